/** Names of what the query cache holds. It is emptied when a session ends, but for the device, which belongs to nobody. */
export const keys = {
  device: ['device'],
  shift: ['shift'],
  packages: ['packages'],
  /** Everything of top-ups, whatever page of it. */
  topUps: ['top-ups'],
  newestTopUps: ['top-ups', 'newest'],
  topUpPages: ['top-ups', 'pages'],
  /** Apart: to look at it again is counted. */
  topUp: (id: string) => ['top-up', id],
  uses: ['uses'],
}
