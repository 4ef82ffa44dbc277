/** Whether the phone's owner prefers reduced motion. */
export const lessMotion = (): boolean => window.matchMedia('(prefers-reduced-motion: reduce)').matches
