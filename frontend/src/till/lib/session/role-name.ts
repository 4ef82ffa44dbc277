/** Looks after the machines of an outlet, and sees neither money nor customers. */
export const TECHNICIAN = 'teknisi'

const NAMES: Record<string, string> = {
  kasir: 'Kasir',
  teknisi: 'Teknisi',
  supervisor: 'Supervisor',
  owner: 'Pemilik',
  root: 'Pengelola',
}

export const roleName = (role: string): string => NAMES[role] ?? role

/** The role that makes a new first PIN for a member of staff. */
export const pinMaker = (role: string): string =>
  role === 'owner' ? 'pengelola Nyala' : role === 'supervisor' ? 'pemilik outlet' : 'supervisor'
