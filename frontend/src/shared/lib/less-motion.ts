/** Whether the phone's owner does not want things to move. */
export const lessMotion = (): boolean => window.matchMedia('(prefers-reduced-motion: reduce)').matches
