/** Texts of the service list, beside those of `copy.service`. */
export const pilihLayanan = {
  closed: 'Outlet sedang tutup',
  /** The time, or the date and the time, at which it opens by itself; after the reason. */
  opens: (time: string) => `Buka lagi ${time}.`,
  /** Below a price that changes soon. */
  until: (time: string) => `sampai ${time}`,
} as const
