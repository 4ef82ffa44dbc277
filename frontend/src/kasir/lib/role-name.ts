import type { Role } from '@/kasir/api/types'

const NAMES: Record<Role, string> = {
  kasir: 'Kasir',
  supervisor: 'Supervisor',
  owner: 'Pemilik',
  root: 'Pengelola',
}

export const roleName = (role: Role): string => NAMES[role]

/** Who makes a new first PIN for somebody. */
export const pinMaker = (role: Role): string =>
  ({ kasir: 'supervisor', supervisor: 'pemilik outlet', owner: 'pengelola Nyala', root: 'pengelola Nyala' })[
    role
  ]
