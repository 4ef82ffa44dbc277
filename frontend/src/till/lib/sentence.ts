/** With one full stop: a shortened name has one already. */
export const sentence = (text: string): string => (text.endsWith('.') ? text : `${text}.`)
