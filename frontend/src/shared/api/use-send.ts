import { useMutation } from '@tanstack/react-query'
import { type FailureTexts, showFailure } from '@/shared/api/show-failure'
import { type Sending, useOneAtATime } from '@/shared/lib/form/use-submit'
import { toast } from '@/shared/lib/toast/toast'

interface SendOptions<V, T> {
  send: (variables: V) => Promise<T>
  /** Text of a failure, where it is not the server's sentence. */
  texts?: FailureTexts
  onDone?: (answer: T, variables: V) => unknown
  /** Called after the failure was shown. */
  onFailed?: (error: Error) => void
}

/** Sends a change to the server, once at a time, and shows a failure. A new attempt removes the messages of an earlier one. */
export function useSend<V = void, T = unknown>({
  send,
  texts,
  onDone,
  onFailed,
}: SendOptions<V, T>): Sending<[V]> {
  const once = useOneAtATime()
  const { isPending, mutateAsync } = useMutation<T, Error, V>({
    mutationFn: send,
    onMutate: toast.newTry,
    onSuccess: onDone,
    onError: (failure) => {
      showFailure(failure, texts)
      onFailed?.(failure)
    },
  })
  return {
    pending: isPending,
    submit: (variables) => once(() => mutateAsync(variables).catch(() => undefined)),
  }
}
