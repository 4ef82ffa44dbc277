/** The page about privacy, section by section. What it says is what the server does (docs/privacy.md). */
export const privacy = {
  title: 'Privasi',
  lead: 'Data Anda dipakai untuk mencuci dan membayar di outlet, tidak untuk iklan, dan tidak dijual.',
  sections: [
    {
      title: 'Yang disimpan, dan berapa lama',
      points: [
        'Nomor WhatsApp, nama, kata sandi dalam bentuk yang tidak bisa dibaca siapa pun, dan kapan kata sandi terakhir diganti: sampai Anda menghapus akun',
        'Saldo, uang masuk dan keluar dengan alasan dari petugas, pemakaian mesin, dan pindah nomor: selamanya, karena pembukuan tidak boleh diubah. Setelah akun dihapus, tanpa nama dan nomor Anda',
        'Kode WhatsApp berlaku 5 menit. Kapan dan untuk apa kode diminta, nomornya, dan alamat internet yang memintanya: 30 hari',
        'Percobaan masuk dengan kata sandi salah, dengan nomor dan alamat internetnya: 15 menit',
        'Satu kali masuk berlaku 30 hari. Bila Anda keluar sebelum itu, tanda masuknya dicatat sebagai tidak berlaku sampai 30 hari itu habis',
        'Alamat pemberitahuan ponsel, bila Anda menyalakannya: sampai Anda mematikannya, keluar, atau masa masuk habis',
        'Permintaan dipanggil ke mesin: sehari setelah selesai',
        'Laporan masalah dan jawabannya: selamanya. Catatan yang Anda tulis di laporan: sampai Anda menghapus akun',
        'Tagihan QRIS: selamanya. Kode QR di dalamnya: sampai Anda menghapus akun',
        'Nama singkat Anda dalam jawaban kepada kasir: 30 hari. Bahwa kasir mencari Anda: satu jam',
        'Persetujuan kasir untuk pindah nomor, dengan nomor lama: sehari',
        'Nomor, nama, dan saldo yang dibawa outlet dari sistem lama: sampai Anda menghapus akun',
        'Salinan cadangan dari semua itu: sampai masa simpan cadangan habis, juga setelah Anda menghapus akun',
      ],
    },
    {
      title: 'Siapa yang melihatnya',
      points: [
        'Kasir outlet tempat Anda mengisi saldo: nama singkat, sebagian nomor, saldo di outlet itu, dan transaksi selama shift-nya',
        'Supervisor dan pemilik outlet itu: nama, sebagian nomor, saldo, transaksi, dan laporan masalah di outletnya',
        'Pengelola server, yang bekerja untuk pemilik outlet: semua yang disimpan',
        'WhatsApp: nomor Anda, untuk mengirim kode dan kabar tentang pindah nomor',
        'Penyedia QRIS (Midtrans): nomor tagihan, jumlah, dan batas waktu bayar, tanpa nama dan nomor Anda',
        'Layanan pemberitahuan ponsel: pesan yang tersandi',
      ],
    },
    {
      title: 'Hak Anda',
      points: [
        'Melihat dan mengunduh data Anda: Akun, lalu Unduh data saya',
        'Mengubah nama, kata sandi, dan pindah ke nomor baru: Akun',
        'Menghapus akun: Akun, lalu Hapus akun',
        'Bertanya atau keberatan: kasir atau pemilik outlet tempat Anda mengisi saldo',
      ],
    },
    {
      title: 'Di ponsel ini',
      points: [
        'Aplikasi menyimpan tanda masuk dan data terakhir, supaya tetap terbuka tanpa jaringan. Keluar Aplikasi menghapusnya dari ponsel ini',
        'Satu cookie menandai ponsel yang pernah masuk, supaya tebakan kata sandi dari tempat lain tertahan. Server tidak mencatatnya. Cookie itu tetap ada setelah Anda keluar, dan hilang 400 hari setelah terakhir masuk',
      ],
    },
  ],
  law: 'Dasarnya Undang-Undang No. 27 Tahun 2022 tentang Pelindungan Data Pribadi.',
} as const
