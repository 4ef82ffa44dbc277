export type StaffRole = 'kasir' | 'teknisi' | 'supervisor'

/** The roles at an outlet that are below one's own. */
export const rolesBelow = (role: string): StaffRole[] =>
  role === 'supervisor' ? ['kasir', 'teknisi'] : ['kasir', 'teknisi', 'supervisor']
