import { explain } from '@/shared/api/error'

/** A failed call in one line: the server's sentence with a capital letter, else what happened and what to do. */
export function reasonOf(error: unknown): string {
  const { title, body } = explain(error)
  const sentence = title.charAt(0).toLocaleUpperCase('id') + title.slice(1)
  return body ? `${sentence}. ${body}` : sentence
}
