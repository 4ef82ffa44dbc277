import { explain } from '@/shared/api/error'
import { common } from '@/shared/copy/shared'
import { Button } from '@/shared/ui/button'
import { Empty } from '@/shared/ui/empty'

interface Props {
  error: unknown
  /** What to say where the failure itself says nothing to do. */
  body?: string
  pending: boolean
  onRetry: () => void
}

/** Stands where something would be that could not be fetched, with another try. */
export function Failed({ error, body, pending, onRetry }: Props) {
  const told = explain(error)
  return (
    <Empty
      title={told.title}
      body={told.body ?? body}
      action={
        <Button pending={pending} onClick={onRetry}>
          {common.tryAgain}
        </Button>
      }
    />
  )
}
