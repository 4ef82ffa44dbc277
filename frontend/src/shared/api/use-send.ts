import { useMutation } from '@tanstack/react-query'
import { tellFailure, type Words } from '@/shared/api/tell-failure'
import { toast } from '@/shared/lib/toast'
import { type Sending, useOneAtATime } from '@/shared/lib/use-submit'

interface Send<V, T> {
  send: (variables: V) => Promise<T>
  /** How a failure is told, where not by the server's sentence. */
  words?: Words
  onDone?: (answer: T, variables: V) => unknown
  /** After the failure was told. */
  onFailed?: (error: Error) => void
}

/** A change that is asked of the server, once at a time; a failure is told. Messages of an earlier one go with the new try. */
export function useSend<V = void, T = unknown>({ send, words, onDone, onFailed }: Send<V, T>): Sending<[V]> {
  const once = useOneAtATime()
  const { isPending, mutateAsync } = useMutation<T, Error, V>({
    mutationFn: send,
    onMutate: toast.newTry,
    onSuccess: onDone,
    onError: (failure) => {
      tellFailure(failure, words)
      onFailed?.(failure)
    },
  })
  return {
    pending: isPending,
    submit: (variables) => once(() => mutateAsync(variables).catch(() => undefined)),
  }
}
