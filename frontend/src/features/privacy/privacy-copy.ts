/** The page about privacy, section by section. What it says is what the server does (docs/privacy.md). */
export const privacy = {
  title: 'Privasi',
  lead: 'Data Anda dipakai untuk mencuci dan membayar di outlet, tidak untuk iklan, dan tidak dijual.',
  sections: [
    {
      title: 'Yang disimpan',
      points: [
        'Nomor WhatsApp dan nama yang Anda tulis saat mendaftar',
        'Kata sandi, dalam bentuk yang tidak bisa dibaca siapa pun',
        'Saldo, pengisian saldo, pemakaian mesin, dan pengembalian uang',
        'Kapan Anda masuk, dan alamat pemberitahuan ponsel bila Anda menyalakannya',
        'Laporan masalah dan jawabannya',
      ],
    },
    {
      title: 'Siapa yang melihatnya',
      points: [
        'Kasir outlet tempat Anda mengisi saldo: nama singkat, sebagian nomor, dan transaksi di outlet itu',
        'Supervisor dan pemilik outlet itu: nama, nomor, dan transaksi di outletnya',
        'WhatsApp: nomor Anda, untuk mengirim kode',
        'Penyedia QRIS: jumlah dan nomor tagihan, tanpa nama dan nomor Anda',
        'Layanan pemberitahuan ponsel: pesan yang tersandi',
      ],
    },
    {
      title: 'Berapa lama',
      points: [
        'Kode WhatsApp: 5 menit',
        'Masuk di satu ponsel: paling lama 30 hari',
        'Catatan uang: tetap ada, karena pembukuan tidak boleh diubah',
        'Nama dan nomor: sampai Anda menghapus akun. Di cadangan data, sampai cadangan itu habis masanya',
      ],
    },
    {
      title: 'Hak Anda',
      points: [
        'Melihat dan mengunduh semua data Anda: Akun, lalu Unduh data saya',
        'Mengubah nama, kata sandi, dan pindah ke nomor baru: Akun',
        'Menghapus akun: Akun, lalu Hapus akun',
        'Bertanya atau keberatan: kasir atau pemilik outlet tempat Anda mengisi saldo',
      ],
    },
    {
      title: 'Di ponsel ini',
      points: [
        'Aplikasi menyimpan tanda masuk dan data terakhir, supaya tetap terbuka tanpa jaringan',
        'Keluar Aplikasi menghapusnya dari ponsel ini',
        'Satu cookie menandai ponsel yang pernah masuk, supaya tebakan kata sandi dari tempat lain tertahan',
      ],
    },
  ],
  law: 'Dasarnya Undang-Undang No. 27 Tahun 2022 tentang Pelindungan Data Pribadi.',
} as const
