/** Keys of the query cache. The cache is emptied when a session ends, except for the device, which belongs to no session. */
export const keys = {
  device: ['device'],
  me: ['me'],
  attention: ['attention'],
  outlets: ['outlets'],
  shift: ['shift'],
  packages: ['packages'],
  /** All queries of top-ups, with any page. */
  topUps: ['top-ups'],
  newestTopUps: ['top-ups', 'newest'],
  topUpPages: ['top-ups', 'pages'],
  /** A separate key: the server counts each further look. */
  topUp: (id: string) => ['top-up', id],
  uses: ['uses'],
}
