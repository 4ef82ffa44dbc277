const NAMES: Record<string, string> = {
  kasir: 'Kasir',
  supervisor: 'Supervisor',
  owner: 'Pemilik',
  root: 'Pengelola',
}

export const roleName = (role: string): string => NAMES[role] ?? role

/** The role that makes a new first PIN for a member of staff. */
export const pinMaker = (role: string): string =>
  role === 'kasir' ? 'supervisor' : role === 'supervisor' ? 'pemilik outlet' : 'pengelola Nyala'
