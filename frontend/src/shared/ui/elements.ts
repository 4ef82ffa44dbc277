import type { ReactNode } from 'react'

/**
 * What may stand beside other elements: elements, and no bare text. A page that Chrome translates has each text in an
 * element of Chrome's own, and React would go on changing a text that nobody sees (scripts/bare-text.mjs).
 */
export type Elements = Exclude<ReactNode, string | number | bigint>
