/** Texts of alerts, which are shown while no page is open. */
export const alertCopy = {
  take: 'Saya tangani',
  look: 'Lihat',
  unsent: 'Belum terkirim',
  /** Title and advice, by the status of the answer; 0 for none. */
  taken(status: number): [title: string, body: string] {
    if (status === 200) return ['Anda ke sana', '']
    if (status === 409) return ['Sudah ditangani orang lain', '']
    if (status === 404) return ['Sudah beres', '']
    if (status === 0 || status >= 500) return [alertCopy.unsent, 'Periksa koneksi, lalu coba lagi']
    return ['Buka Perhatian untuk menangani', 'Tombol ini sudah tidak berlaku']
  },
}
