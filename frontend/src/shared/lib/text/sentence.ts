/** Ends a text with exactly one full stop, question or exclamation mark: a shortened name or a typed reason may already have one. */
export const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`)
