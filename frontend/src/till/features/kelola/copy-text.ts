import { notify } from '@/till/lib/page/notices'

/** Copies a text, and says so; a browser may refuse. */
export async function copyText(text: string, copied: string, refused: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
    notify.info(copied)
  } catch {
    notify.failure(refused)
  }
}
