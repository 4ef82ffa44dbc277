import { X } from 'lucide-react'
import { useState } from 'react'
import { Button } from '@/shared/ui/button'
import { Dialog, Foot } from '@/shared/ui/dialog'
import { type AuditRow, getAudit, shopKeys } from '@/till/api/shop-calls'
import { usePages } from '@/till/lib/page/use-pages'
import { clockThere, dateThere } from '@/till/lib/page/zone-clock'
import { List } from '@/till/ui/list'
import { Rows } from '@/till/ui/rows'
import styles from '../kelola.module.css'
import { audit } from './akses-copy'

/** What was done at an outlet, newest first, by action and object. */
export function AuditLog({ idoutlet, zone }: { idoutlet: number; zone: string }) {
  const [aksi, setAksi] = useState<string | null>(null)
  const [objek, setObjek] = useState<string | null>(null)
  const [open, setOpen] = useState<AuditRow | null>(null)
  const filter = { idoutlet, aksi, objek }
  const rows = usePages<AuditRow>(shopKeys.audit(filter), (before, signal) =>
    getAudit(filter, before, signal),
  )
  return (
    <section className={styles.panel} aria-labelledby="audit">
      <h2 id="audit" className={styles.panelTitle}>
        {audit.title}
      </h2>
      <label className={styles.place}>
        <span className={styles.label}>{audit.what}</span>
        <select
          className={styles.select}
          value={aksi ?? ''}
          onChange={(event) => setAksi(event.target.value || null)}
        >
          <option value="">{audit.anything}</option>
          {Object.entries(audit.actions).map(([action, name]) => (
            <option key={action} value={action}>
              {name}
            </option>
          ))}
        </select>
      </label>
      {objek && (
        <p className={styles.rule}>
          <span className={styles.ruleText}>{audit.about(objek)}</span>
          <Button
            variant="quiet"
            className={styles.small}
            icon={<X size={18} aria-hidden />}
            onClick={() => setObjek(null)}
          >
            {audit.aboutAll}
          </Button>
        </p>
      )}
      <List query={rows} empty={audit.none} keyOf={({ id }) => String(id)}>
        {(row) => (
          <button type="button" className={styles.line} onClick={() => setOpen(row)}>
            <span className={`digits ${styles.second}`}>{clockThere(Date.parse(row.created_at), zone)}</span>
            <span className={styles.ruleText}>
              <strong>{actionName(row)}</strong>
              <span className={styles.second}>{`${actorName(row)} · ${row.objek}`}</span>
            </span>
          </button>
        )}
      </List>
      {open && (
        <Dialog open onClose={() => setOpen(null)} title={actionName(open)}>
          <Rows
            rows={[
              [audit.at, momentOf(open, zone)],
              [audit.by, actorName(open)],
              [audit.object, open.objek],
              ...Object.entries(open.isi).map(([name, value]): [string, string] => [name, textOf(value)]),
            ]}
          />
          {open.objek !== objek && (
            <Foot>
              <Button
                variant="secondary"
                onClick={() => {
                  setAksi(null)
                  setObjek(open.objek)
                  setOpen(null)
                }}
              >
                {audit.allAbout(open.objek)}
              </Button>
            </Foot>
          )}
        </Dialog>
      )}
    </section>
  )
}

const actionName = ({ aksi }: AuditRow) => audit.actions[aksi] ?? aksi

const actorName = ({ nama, aktor }: AuditRow) =>
  nama ?? (aktor === 'cli' ? audit.program : aktor === 'server' ? audit.server : aktor)

/** With its date, whatever the day. */
function momentOf({ created_at }: AuditRow, zone: string): string {
  const at_ms = Date.parse(created_at)
  return `${dateThere(at_ms, zone)} ${clockThere(at_ms, zone).replace('.', ':')}`
}

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : value == null ? '-' : JSON.stringify(value)
