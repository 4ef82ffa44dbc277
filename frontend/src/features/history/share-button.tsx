import { Share2 } from 'lucide-react'
import { useEffect, useState } from 'react'
import { later } from '@/shared/copy/later'
import { useSubmit } from '@/shared/lib/form/use-submit'
import { whenIdle } from '@/shared/lib/page/when-idle'
import { toast } from '@/shared/lib/toast/toast'
import { Button } from '@/shared/ui/button'
import { drawReceipt, receiptText } from './draw-receipt'
import type { Receipt } from './receipt'

/**
 * Shares the receipt: its picture, else its text, else through the clipboard. The picture is drawn before the tap, because a browser
 * shares only right after it.
 */
export function ShareButton({ title, receipt }: { title: string; receipt: Receipt }) {
  const [picture, setPicture] = useState<File | null>(null)
  useEffect(() => {
    let left = false
    whenIdle()
      .then(() => drawReceipt(title, receipt))
      .then(
        (file) => left || setPicture(file),
        // Without a picture the text is shared.
        () => undefined,
      )
    return () => {
      left = true
    }
  }, [title, receipt])

  const { pending, submit } = useSubmit(() => share(title, receipt, picture))
  return (
    <Button
      variant="secondary"
      icon={<Share2 size={20} aria-hidden />}
      pending={pending}
      onClick={() => submit()}
    >
      {later.share.button}
    </Button>
  )
}

async function share(title: string, receipt: Receipt, picture: File | null): Promise<void> {
  const text = receiptText(title, receipt)
  const data = [picture && { files: [picture] }, { title, text }].find(
    (one) => one && navigator.canShare?.(one),
  )
  try {
    if (data) return await navigator.share(data)
    await navigator.clipboard.writeText(text)
    toast.success(later.share.copied)
  } catch (error) {
    // A customer who closes the phone's share sheet has changed their mind.
    if (error instanceof DOMException && error.name === 'AbortError') return
    toast.failure(later.share.failed)
  }
}
