import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Copy, Plus } from 'lucide-react'
import { useState } from 'react'
import { useForm } from '@/shared/lib/form/use-form'
import { Button } from '@/shared/ui/button'
import { Chips } from '@/shared/ui/chips'
import { Dialog, Foot } from '@/shared/ui/dialog'
import { Field } from '@/shared/ui/field'
import { type ApiKeyRow, addApiKey, getApiKeys, revokeApiKey, shopKeys } from '@/till/api/shop-calls'
import type { Me } from '@/till/api/types'
import { notify } from '@/till/lib/page/notices'
import { roleName } from '@/till/lib/session/role-name'
import { ConfirmDialog } from '../confirm-dialog'
import { copyText } from '../copy-text'
import styles from '../kelola.module.css'
import { Loaded } from '../loaded'
import { rolesBelow, type StaffRole } from '../orang/roles'
import { SaveFoot } from '../save-foot'
import { useSave } from '../use-save'
import { kunci } from './akses-copy'

/** The API keys of an outlet that are below the viewer's role. */
export function ApiKeys({ me, idoutlet }: { me: Me; idoutlet: number }) {
  const client = useQueryClient()
  const keys = useQuery({ queryKey: shopKeys.apiKeys, queryFn: ({ signal }) => getApiKeys(signal) })
  const [adding, setAdding] = useState(false)
  const [revoking, setRevoking] = useState<ApiKeyRow | null>(null)
  const look = () => void client.invalidateQueries({ queryKey: shopKeys.apiKeys })
  return (
    <section className={styles.panel} aria-labelledby="kunci-api">
      <h2 id="kunci-api" className={styles.panelTitle}>
        {kunci.title}
      </h2>
      <p className={styles.second}>{kunci.body}</p>
      <Loaded query={keys}>
        {(data) => {
          const here = data.filter((one) => one.idoutlet === idoutlet)
          const used = here.filter(({ dicabut_at }) => !dicabut_at)
          const revoked = here.filter(({ dicabut_at }) => dicabut_at)
          return (
            <>
              {used.length === 0 && <p>{kunci.none}</p>}
              <ul>
                {used.map((one) => (
                  <li key={one.id} className={styles.rule}>
                    <span className={styles.ruleText}>
                      <strong>{one.nama}</strong>
                      <span className={styles.second}>{roleName(one.role)}</span>
                    </span>
                    <Button
                      variant="danger"
                      className={styles.small}
                      aria-label={kunci.revokeOf(one.nama)}
                      onClick={() => setRevoking(one)}
                    >
                      {kunci.revoke}
                    </Button>
                  </li>
                ))}
              </ul>
              <Button
                variant="secondary"
                icon={<Plus size={20} aria-hidden />}
                onClick={() => setAdding(true)}
              >
                {kunci.add}
              </Button>
              {revoked.length > 0 && (
                <details className={styles.retired}>
                  <summary>{kunci.ended(revoked.length)}</summary>
                  <ul>
                    {revoked.map((one) => (
                      <li key={one.id} className={styles.retiredRow}>
                        <span className={styles.ruleText}>{`${one.nama}, ${roleName(one.role)}`}</span>
                      </li>
                    ))}
                  </ul>
                </details>
              )}
              {adding && (
                <AddDialog
                  me={me}
                  idoutlet={idoutlet}
                  newest={Math.max(0, ...data.map(({ id }) => id))}
                  onLook={look}
                  onClose={() => setAdding(false)}
                />
              )}
            </>
          )
        }}
      </Loaded>
      {revoking && (
        <ConfirmDialog
          label={kunci.revokeOf(revoking.nama)}
          body={kunci.revokeBody(revoking.nama)}
          send={() => revokeApiKey(revoking.id)}
          onBack={() => setRevoking(null)}
          onDone={() => {
            look()
            notify.info(kunci.revoked(revoking.nama))
            setRevoking(null)
          }}
        />
      )}
    </section>
  )
}

interface AddProps {
  me: Me
  idoutlet: number
  /** The largest id before: a new key has a larger one. */
  newest: number
  onLook: () => void
  onClose: () => void
}

function AddDialog({ me, idoutlet, newest, onLook, onClose }: AddProps) {
  const [before] = useState(newest)
  const [nama, setNama] = useState('')
  const [role, setRole] = useState<StaffRole>('kasir')
  const [secret, setSecret] = useState<string | null>(null)
  const name = nama.trim()
  const saving = useSave<string>({
    onDone(made) {
      onLook()
      setSecret(made)
    },
  })

  /** This call has no key of its own: a key that was made and whose secret nobody has seen is revoked before another one is made. */
  async function request(_key: string, maybeMade: boolean): Promise<string> {
    const unseen = maybeMade
      ? (await getApiKeys()).filter(
          (one) => one.id > before && one.nama === name && one.idoutlet === idoutlet && !one.dicabut_at,
        )
      : []
    for (const { id } of unseen) await revokeApiKey(id)
    return (await addApiKey({ nama: name, role, idoutlet })).secret
  }

  const { form, field } = useForm<'nama'>(
    () => (name === '' ? { nama: kunci.nameMissing } : {}),
    () => saving.save(request),
  )
  if (secret !== null) {
    return (
      <Dialog open onClose={onClose} title={kunci.secretTitle(name)}>
        <p className={styles.note}>{kunci.secretOnce}</p>
        <p className={styles.code} translate="no">
          {secret}
        </p>
        <Foot>
          <Button
            variant="secondary"
            icon={<Copy size={18} aria-hidden />}
            onClick={() => void copyText(secret, kunci.copied, kunci.notCopied)}
          >
            {kunci.copy}
          </Button>
          <Button onClick={onClose}>{kunci.done}</Button>
        </Foot>
      </Dialog>
    )
  }
  const busy = saving.pending || saving.open
  const roles = rolesBelow(me.role)
  return (
    <Dialog
      open
      onClose={onClose}
      title={kunci.newTitle}
      locked={saving.pending}
      typed={nama !== '' && !busy}
    >
      <form {...form} className={styles.form}>
        <fieldset className={styles.fields} disabled={busy}>
          <Field
            label={kunci.name}
            {...field('nama')}
            data-initial
            hint={kunci.nameHint}
            value={nama}
            maxLength={100}
            autoComplete="off"
            onChange={(event) => setNama(event.target.value)}
          />
          {roles.length > 1 && (
            <Chips
              label={kunci.role}
              options={roles.map((one) => ({ value: one, text: kunci.roles[one] }))}
              chosen={[role]}
              onChoose={setRole}
            />
          )}
        </fieldset>
        <SaveFoot saving={saving} label={kunci.save} onAgain={() => saving.again(request)} />
      </form>
    </Dialog>
  )
}
