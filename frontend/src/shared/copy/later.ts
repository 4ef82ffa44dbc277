/** More texts for logged-in customers (pushes, washing again, logging out, sharing): a separate file, so that the first visit does not load them. */
export const later = {
  push: {
    ask: 'Beri tahu saya saat selesai',
    title: 'Pemberitahuan',
    what: 'Saat cucian selesai',
    on: 'Kami beri tahu saat cucian selesai',
    allow: 'Izinkan pemberitahuan di setelan browser.',
    homeScreenFirst: 'Tambahkan Nyala ke Layar Utama dulu.',
    failed: 'Pemberitahuan belum bisa diubah',
    failedBody: 'Periksa koneksi lalu coba lagi.',
  },
  again: {
    /** Beside the service that the customer had last. */
    last: 'terakhir',
    title: (service: string) => `Cuci lagi: ${service}`,
    price: (amount: string) => `Harga sekarang ${amount}`,
    gone: 'Layanan ini sudah tidak ada',
    goneBody: 'Pilih layanan lain.',
  },
  logout: {
    title: 'Keluar sekarang?',
    body: 'Masih ada mesin Anda yang berjalan atau menunggu. Setelah keluar, sisa waktunya tidak tampil di sini dan Anda tidak diberi tahu saat selesai.',
    stay: 'Tetap di sini',
  },
  freeMachines: 'Mesin siap di outlet',
  waits: 'Menunggu diambil',
  pressStart: 'Mesin belum jalan. Tutup pintunya, lalu tekan Start.',
  neverRan: 'Mesin tidak jalan. Hubungi petugas, atau laporkan di Riwayat.',
  fetched: 'Sudah saya ambil',
  share: {
    button: 'Bagikan struk',
    copied: 'Struk disalin',
    failed: 'Struk belum bisa dibagikan',
  },
} as const
