/** Ends a text with exactly one full stop: a shortened name already has one. */
export const sentence = (text: string): string => (text.endsWith('.') ? text : `${text}.`)
