import { MessageCircle, Printer } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { createPortal } from 'react-dom'
import { Button } from '@/shared/ui/button'
import { printOnRoll } from '@/till/lib/page/print'
import { PrintedReceipt, type Receipt, whatsAppAddress } from '@/till/ui/receipt'
import styles from './give-receipt.module.css'

interface Props {
  receipt: Receipt
  /** The customer's number, if it was typed. */
  typed: string | null
  /** Prints automatically when it is first shown. */
  byItself?: boolean
}

/** Gives a receipt on paper, or to a phone. */
export function GiveReceipt({ receipt, typed, byItself = false }: Props) {
  const paper = useRef<HTMLDivElement>(null)
  const print = () => paper.current && printOnRoll(paper.current)
  // biome-ignore lint/correctness/useExhaustiveDependencies: once a receipt
  useEffect(() => {
    if (byItself) print()
  }, [receipt.number])
  return (
    <div className={styles.pair}>
      <Button variant="secondary" icon={<Printer size={20} aria-hidden />} onClick={print}>
        Cetak struk
      </Button>
      <a
        className={styles.whatsApp}
        href={whatsAppAddress(receipt, typed)}
        target="_blank"
        rel="noopener noreferrer"
      >
        <MessageCircle size={20} aria-hidden />
        WhatsApp
      </a>
      {createPortal(<PrintedReceipt ref={paper} receipt={receipt} />, document.body)}
    </div>
  )
}
