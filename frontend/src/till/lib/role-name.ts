const NAMES: Record<string, string> = {
  kasir: 'Kasir',
  supervisor: 'Supervisor',
  owner: 'Pemilik',
  root: 'Pengelola',
}

export const roleName = (role: string): string => NAMES[role] ?? role

/** Who makes a new first PIN for somebody. */
export const pinMaker = (role: string): string =>
  role === 'kasir' ? 'supervisor' : role === 'supervisor' ? 'pemilik outlet' : 'pengelola Nyala'
