import type { ReactNode } from 'react'

/**
 * Children that may have siblings: elements, and no bare text. Chrome's translation moves each text into a separate element, and React
 * would keep changing a text that is no longer visible (scripts/bare-text.mjs).
 */
export type Elements = Exclude<ReactNode, string | number | bigint>
