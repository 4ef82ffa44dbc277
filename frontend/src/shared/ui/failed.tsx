import { explain } from '@/shared/api/error'
import { common } from '@/shared/copy/common'
import { Button } from '@/shared/ui/button'
import { Empty } from '@/shared/ui/empty'

interface Props {
  error: unknown
  /** Advice, where the failure itself has none. */
  body?: string
  pending: boolean
  onRetry: () => void
}

/** Placeholder for content that could not be fetched, with a retry button. */
export function Failed({ error, body, pending, onRetry }: Props) {
  const text = explain(error)
  return (
    <Empty
      title={text.title}
      body={text.body ?? body}
      action={
        <Button pending={pending} onClick={onRetry}>
          {common.tryAgain}
        </Button>
      }
    />
  )
}
