/** The registration's link to the page about privacy. */
export const registerCopy = {
  privacy: 'Bagaimana data Anda dijaga?',
  readIt: 'Baca privasi',
} as const
