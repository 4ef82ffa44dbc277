import { createPortal } from 'react-dom'
import { STICKERS_A_PAGE, type Sticker } from '@/till/api/shop-calls'
import styles from './sheets.module.css'
import { stiker } from './stiker-copy'

/** A4 pages of stickers, for paper only. The marks are borders, because browsers leave out backgrounds. */
export function Sheets({ stickers }: { stickers: readonly Sticker[] }) {
  const pages = Array.from({ length: Math.ceil(stickers.length / STICKERS_A_PAGE) }, (_, page) =>
    stickers.slice(page * STICKERS_A_PAGE, (page + 1) * STICKERS_A_PAGE),
  )
  return createPortal(
    <div className={styles.sheets} aria-hidden="true">
      {pages.map((page) => (
        <div key={page[0]?.id} className={styles.sheet}>
          {page.map((one) => (
            <OneSticker key={one.id} sticker={one} />
          ))}
          <p className={styles.ruler}>
            <span>{stiker.ruler}</span>
            <span>{stiker.scale}</span>
          </p>
        </div>
      ))}
    </div>,
    document.body,
  )
}

function OneSticker({ sticker: { nama, kode, png } }: { sticker: Sticker }) {
  return (
    <div className={styles.sticker}>
      <i className={styles.mark} data-corner="nw" />
      <i className={styles.mark} data-corner="ne" />
      <i className={styles.mark} data-corner="sw" />
      <i className={styles.mark} data-corner="se" />
      <img data-sticker className={styles.code} src={`data:image/png;base64,${png}`} alt="" />
      <span className={styles.text}>
        <strong className={styles.name}>{nama}</strong>
        <span>{stiker.scan}</span>
        <span className={styles.typed}>{kode}</span>
      </span>
    </div>
  )
}
