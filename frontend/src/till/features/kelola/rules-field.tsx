import { Clock3, Pencil, Plus } from 'lucide-react'
import { rupiah } from '@/shared/lib/text/format'
import { Button } from '@/shared/ui/button'
import { IconButton } from '@/shared/ui/icon-button'
import type { PriceRule } from '@/till/api/shop-calls'
import styles from './kelola.module.css'
import { layanan } from './layanan-copy'
import { MAX_RULES, ruleText } from './price-rules'
import { WeekChart } from './week-chart'

interface Props {
  rules: PriceRule[]
  /** The usual price, rupiah. */
  price: number
  zone: string
  /** Two rules hold at one time. */
  fault: string | undefined
  /** Opens the rule with this index; the next free one is a new rule. */
  onEdit: (index: number) => void
}

/** The prices by hour of a service. */
export function RulesField({ rules, price, zone, fault, onEdit }: Props) {
  const full = rules.length >= MAX_RULES

  return (
    <section className={styles.rules} aria-label={layanan.byHour}>
      <div className={styles.rulesHead}>
        <h3 className={styles.label}>{layanan.byHour}</h3>
        {!full && (
          <Button
            variant="quiet"
            className={styles.small}
            icon={<Plus size={18} aria-hidden />}
            onClick={() => onEdit(rules.length)}
          >
            {layanan.addRule}
          </Button>
        )}
      </div>
      {rules.length > 0 && (
        <ul>
          {rules.map((rule, i) => (
            // Rules have no id, and two equal ones overlap.
            // biome-ignore lint/suspicious/noArrayIndexKey: a rule is its place in the list
            <li key={i} className={styles.rule}>
              <Clock3 size={18} aria-hidden />
              <span className={styles.ruleText}>
                <span className="digits">{ruleText(rule)}</span>
                {rule.sampai < rule.dari && <span className={styles.second}>{layanan.pastMidnight}</span>}
              </span>
              <strong className="digits">{rupiah(rule.harga)}</strong>
              <IconButton label={layanan.changeRule(ruleText(rule))} onClick={() => onEdit(i)}>
                <Pencil size={18} aria-hidden />
              </IconButton>
            </li>
          ))}
        </ul>
      )}
      {full && <p className={styles.second}>{layanan.full}</p>}
      {fault && (
        <p role="alert" className={styles.fault}>
          {fault}
        </p>
      )}
      {rules.length > 0 && <WeekChart rules={rules} price={price} zone={zone} />}
    </section>
  )
}
