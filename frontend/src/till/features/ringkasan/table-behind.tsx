import { useState } from 'react'
import styles from './ringkasan.module.css'
import { ringkasan as copy } from './ringkasan-copy'

interface Props {
  /** The drawing's title. */
  title: string
  head: readonly string[]
  rows: readonly (readonly string[])[]
}

/** The numbers of a drawing, folded away on the screen; on paper they are always there. */
export function TableBehind({ title, head, rows }: Props) {
  const [open, setOpen] = useState(false)
  const name = open ? copy.tableHide : copy.table
  return (
    <div className={styles.behind}>
      <button
        type="button"
        aria-expanded={open}
        aria-label={`${name}, ${title}`}
        className={styles.fold}
        onClick={() => setOpen(!open)}
      >
        {name}
      </button>
      <div className={styles.behindTable} data-open={open || undefined}>
        <table className={styles.table}>
          <caption className="visually-hidden">{title}</caption>
          <thead>
            <tr>
              {head.map((one) => (
                <th key={one} scope="col">
                  {one}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.join()}>
                {row.map((cell, i) =>
                  i === 0 ? (
                    <th key={head[i]} scope="row">
                      {cell}
                    </th>
                  ) : (
                    <td key={head[i]} className="digits">
                      {cell}
                    </td>
                  ),
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  )
}
