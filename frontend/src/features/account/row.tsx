import { ChevronRight } from 'lucide-react'
import type { ReactNode } from 'react'
import choices from '@/shared/ui/choice.module.css'

interface Props {
  icon: ReactNode
  label: string
  disabled: boolean
  onClick: () => void
  children: ReactNode
}

/** One setting of the account with its current value; opens a dialog. */
export function Row({ icon, label, disabled, onClick, children }: Props) {
  return (
    <button
      type="button"
      className={choices.choice}
      disabled={disabled}
      aria-haspopup="dialog"
      onClick={onClick}
    >
      <span className={choices.tile}>{icon}</span>
      <span className={choices.text}>
        <span className={choices.name}>{label}</span>
        <span className={choices.second}>{children}</span>
      </span>
      <ChevronRight className={choices.chevron} size={20} aria-hidden />
    </button>
  )
}
