import { camera, common, failure, months } from '@/shared/copy/common'

/**
 * The app's texts by screen. Some that only logged-in customers meet are in `later.ts`, those of a screen that loads later are beside that
 * screen (`*-copy.ts`).
 */
export const copy = {
  brand: 'Nyala',
  months,
  auth: {
    // Quoted by docs/product.md, to the letter.
    register: 'Daftar',
    logIn: 'Masuk',
    forgotPassword: 'Lupa Kata Sandi',
  },
  form: {
    // Quoted by docs/product.md, to the letter.
    password: 'Kata Sandi',
    repeatPassword: 'Ulangi Kata Sandi',
    accountName: 'Nama Akun',
    save: 'Simpan',
    fieldEmpty: 'Field masih kosong',
    incomplete: 'Form Belum Lengkap',
    nameTooShort: 'Nama Akun Minimal 2 Kata',
    passwordsDiffer: 'Password Tidak Sama',
    dataMissing: 'Data ada yang kosong',
    newPasswordsDiffer: 'Kata sandi tidak sama',
    // Our own.
    whatsAppNumber: 'Nomor WhatsApp',
    telpHint: 'Tulis nomor tanpa 0 atau 62 di depan',
    exampleName: 'Siti Rahmawati',
    nameHint: 'Nama depan dan nama belakang',
    /** The server's own sentence, shown before a code is requested. */
    passwordTooShort: 'kata sandi minimal 8 karakter',
    passwordTooLong: 'kata sandi maksimal 128 karakter',
    nameTooLong: 'Nama paling banyak 99 huruf',
    nameHidden: 'Nama berisi karakter yang tidak terlihat',
    passwordAdvice: {
      length: 'Min. 8 karakter',
      upperCase: 'Huruf besar',
      lowerCase: 'Huruf kecil',
      digit: 'Angka',
      met: '(sudah)',
      unmet: '(belum)',
    },
    newPassword: 'Kata Sandi Baru',
    repeatNewPassword: 'Ulangi Kata Sandi Baru',
    showPassword: 'Tampilkan kata sandi',
    hidePassword: 'Sembunyikan kata sandi',
  },
  bar: {
    // Quoted by docs/product.md, to the letter.
    home: 'Beranda',
    topUp: 'Top Up',
    history: 'Riwayat',
    account: 'Akun',
  },
  welcome: {
    title: 'Cuci selesai tanpa antre',
    body: 'Pindai mesin, bayar dari saldo E-Pay, lalu pantau sisa waktunya dari mana saja.',
  },
  login: {
    // Quoted by docs/product.md, to the letter.
    passwordIncorrect: 'password is incorrect',
    accountNotFound: 'Akun tidak ditemukan',
    // Our own.
    title: 'Selamat datang kembali',
    noAccountYet: 'Belum punya akun?',
    tryOtherPassword: 'Periksa lagi kata sandinya, atau pilih Lupa Kata Sandi.',
    tryOtherNumber: 'Periksa lagi nomornya, atau daftar bila belum punya akun.',
  },
  register: {
    // Quoted by docs/product.md, to the letter.
    done: 'Registrasi Berhasil',
    // Our own.
    title: 'Buat akun baru',
    body: 'Kode verifikasi dikirim ke WhatsApp Anda.',
    haveAccount: 'Sudah punya akun?',
  },
  otp: {
    // Quoted by docs/product.md, to the letter.
    resend: 'Kirim Ulang Kode',
    send: 'Kirim Kode OTP',
    invalid: 'your otp is invalid',
    recordNotFound: 'record not found',
    systemErrorRetry: 'terdapat kesalahan sistem, mohon coba kembali',
    // Our own.
    title: 'Verifikasi nomor',
    sent: 'Kode dikirim lewat WhatsApp ke',
    notSent: 'Minta kode dengan tombol Kirim Ulang Kode untuk nomor',
    label: 'Kode 6 angka',
    digit: (position: number) => `Angka ke-${position} dari 6`,
    resendIn: 'Kirim ulang dalam',
    codeSent: 'Kode baru terkirim',
    checkCode: 'Periksa kode di WhatsApp, atau kirim ulang kodenya.',
  },
  forgot: {
    // Quoted by docs/product.md, to the letter.
    done: 'Sandi diperbaruhi',
    tryAgain: 'Mohon coba lagi',
    systemError: 'Kesalahan sistem',
    // Our own.
    telpTitle: 'Lupa kata sandi',
    telpBody: 'Tulis nomor WhatsApp yang terdaftar. Kami kirim kode untuk membuat kata sandi baru.',
    otpTitle: 'Kode verifikasi',
    passwordTitle: 'Kata sandi baru',
    passwordBody: 'Buat kata sandi baru untuk',
  },
  dashboard: {
    // Quoted by docs/product.md, to the letter.
    seeLocation: 'Lihat Lokasi',
    running: 'Sedang Berlangsung',
    // Our own.
    greeting: 'Halo,',
    total: 'Total saldo',
    endsAt: (time: string) => `selesai ${time}`,
    since: (time: string) => `sejak ${time}`,
    sinceDate: (date: string) => `sejak ${date}`,
    noBalance: 'Belum ada saldo E-Pay',
    addBalance: 'Isi saldo',
    noBalanceBody: 'Isi saldo di kasir outlet dengan menunjukkan kode QR Anda.',
    outletInfo: (name: string) => `Info outlet ${name}`,
    city: 'Kota',
    registered: 'Terdaftar',
    welcome: 'Selamat datang di Nyala',
    stepScan: 'Pindai QR di mesin untuk mulai mencuci',
    stepTopUp: 'Isi saldo di kasir lewat Top Up',
    stepHistory: 'Lihat semua pemakaian di Riwayat',
    stepAccount: 'Ubah nama dan kata sandi di Akun',
    waitingForMachine: 'Menunggu mesin',
    /** The latest time of the refund. */
    waitingForMachineBody: (time: string) =>
      `Mesin belum menjawab. Bila tidak menyala, saldo kembali paling lambat ${time}. Tanyakan ke kasir sambil menunggu.`,
    finished: 'Selesai',
    /** Shown when the connection is down at the end of a cycle. */
    perhapsOver: 'Mungkin sudah selesai',
    reconnecting: 'Menyambungkan kembali…',
    timeLeft: 'Sisa waktu',
    loadFailed: 'Data belum bisa dimuat',
    /** Shows the running machines beyond the first ones. */
    showMore: (count: number) => `Tampilkan ${count} mesin lagi`,
    dataAsOf: (time: string) => `Data per ${time}`,
    balanceCards: 'Daftar saldo E-Pay',
  },
  scan: {
    ...camera,
    // Quoted by docs/product.md, to the letter.
    title: 'Scan',
    guide: 'Petunjuk penggunaan',
    machineNotFound: 'Mesin Not found',
    quotaNotFound: 'Quota E-Money or Outlet Not Found',
    servicesFound: 'Get Layanan Success',
    // Our own.
    steps: ['Arahkan kamera', 'Pilih layanan', 'Saldo terpotong otomatis', 'Mesin siap dipakai'],
    checking: 'Memeriksa mesin…',
    gallery: 'Galeri',
    typeCode: 'Ketik kode',
    code: 'Kode mesin',
    codeHint: '8 huruf dan angka di bawah kode QR pada mesin',
    search: 'Cari mesin',
    wrongCode: 'Kode terdiri dari 8 huruf dan angka',
    cameraRefusedBody: 'Izinkan kamera di setelan browser, atau pakai gambar dari galeri atau kode mesin.',
    noCameraBody: 'Pakai gambar dari galeri atau ketik kode mesin.',
    cameraBusyBody: 'Tutup aplikasi itu lalu coba lagi, atau ketik kode mesin.',
    insecureBody: 'Buka aplikasi lewat alamat https, atau ketik kode mesin.',
    scannerSlow: 'Koneksi lambat, pemindai masih dimuat. Anda juga bisa mengetik kode mesin.',
    scannerFailedBody: 'Periksa koneksi lalu coba lagi, atau ketik kode mesin.',
    pictureWithoutQr: 'Tidak ada kode QR di gambar itu',
    pictureWithoutQrBody: 'Pilih gambar yang lebih jelas, atau ketik kode mesin.',
    notMachineQr: 'Ini bukan kode QR mesin Nyala',
    modalBody: 'Anda belum punya saldo E-Pay untuk outlet ini. Isi saldo di kasir terlebih dahulu.',
    machineNotFoundBody: 'Pindai lagi stiker di mesin, atau ketik kode di bawahnya.',
    quotaNotFoundBody: 'Isi saldo di kasir outlet ini dulu.',
    scanAgain: 'Pindai lagi',
  },
  service: {
    title: 'Pilih layanan',
    search: 'Cari layanan',
    empty: 'Belum ada layanan di outlet ini',
    noMatch: 'Tidak ada layanan yang cocok',
    busy: 'Sedang digunakan',
    /** Follows on the same line. */
    timeLeft: (left: string) => `, sisa ${left}`,
    busyWithoutTime: 'Mesin ini sedang disiapkan untuk pelanggan lain.',
    /** The machine is used by this customer: it runs, or it holds their money. */
    own: 'Sedang Anda pakai',
    ownWaiting: 'Mesin ini menunggu pembayaran Anda',
    ready: 'Siap',
    free: 'Mesin sudah bebas',
    offline: 'Mesin sedang offline',
    scanAnother: 'Pindai mesin lain',
    offlineBody: 'Pindai mesin lain, atau hubungi kasir.',
    matchName: 'Pastikan nama ini sama dengan nama di mesin.',
  },
  epay: {
    // Quoted by docs/product.md, to the letter.
    notFound: 'E-Pay tidak ditemukan',
    found: (count: number) => `${count} E-Pay ditemukan`,
    // Our own.
    title: 'Pilih E-Pay',
    emptyBody: 'Isi saldo di kasir outlet terlebih dahulu.',
    /** Short enough for one line beside the balance on a small phone. */
    validUntil: (date: string) => `Berlaku s.d. ${date}`,
    /** The balance after paying. */
    left: (amount: string) => `sisa ${amount}`,
    serviceAt: (service: string, machine: string) => `${service} di ${machine}`,
    insufficient: 'Saldo kurang',
    insufficientBody: 'Pilih E-Pay lain atau isi saldo di kasir.',
  },
  /** Lines of a receipt, before paying and in the history. */
  receipt: {
    // Quoted by docs/product.md, to the letter.
    number: 'No Nota',
    servicePrice: 'Harga Layanan',
    // Our own.
    date: 'Tanggal',
    machine: 'Mesin',
    service: 'Layanan',
    duration: 'Durasi',
    outlet: 'Outlet',
    minutes: (minutes: number) => `${minutes} menit`,
  },
  pay: {
    // Quoted by docs/product.md, to the letter.
    start: 'Bayar & Nyalakan Mesin',
    balanceTooLow: 'saldo epay tidak cukup',
    machineStarted: 'Mesin Berhasil dinyalakan',
    systemBusy: 'Sistem Sedang Sibuk, Coba Lagi!',
    // Our own.
    title: 'Pembayaran',
    youPay: 'Anda bayar',
    paid: 'Pembayaran berhasil',
    /** Minutes, and the time of its end if it starts now. */
    endsAbout: (minutes: string, time: string) => `${minutes} · selesai sekitar ${time}`,
    loaded: (machine: string) => `Cucian sudah di dalam ${machine}?`,
    balanceLeft: 'Sisa saldo',
    starting: 'Menyalakan mesin…',
    startingBody: 'Tunggu sebentar, jangan tutup halaman ini.',
    confirming: 'Memastikan pembayaran…',
    confirmingBody:
      'Jawaban belum diterima. Selama halaman ini terbuka kami tanyakan terus dengan nomor nota yang sama, jadi saldo tidak terpotong dua kali.',
    undecided: 'Hasilnya belum diketahui',
    undecidedBody:
      'Periksa koneksi lalu coba lagi. Nomor notanya tetap sama, jadi saldo tidak terpotong dua kali.',
    toDashboard: 'Lihat di Beranda',
    startedBody: 'Sisa waktunya tampil di Beranda.',
    seeDashboard: 'Lihat keadaan mesinnya di Beranda.',
    balanceAt: (outlet: string) => `Saldo E-Pay ${outlet}`,
    /** Never shown after an attempt that went unanswered. */
    moneySafe: 'Saldo Anda tidak terpotong.',
    seeBalance: 'Saldo terbaru tampil di Beranda.',
  },
  history: {
    // Quoted by docs/product.md, to the letter.
    all: 'Semua transaksi',
    machineUse: 'Penggunaan Mesin',
    topUps: 'Top-Up',
    none: 'Belum ada transaksi',
    detailTitle: {
      snap_transaksi: 'Transaksi',
      pembelian_emoney: 'Top-Up',
      snap_transaksi_hapus: 'Penghapusan',
      snap_transaksi_refund: 'Refund',
    },
    addition: 'Penambahan Saldo',
    purchaseFailed: 'Transaksi ini gagal dibuat',
    purchaseNotFound: 'Transaksi ini tidak ditemukan',
    // Our own.
    filter: 'Jenis transaksi',
    today: 'Hari ini',
    yesterday: 'Kemarin',
    refresh: 'Segarkan riwayat',
    updated: 'Riwayat sudah diperbarui',
    /** The U+2060 joiner keeps `top-up` on one line. */
    emptyBody: 'Pemakaian mesin dan top-\u2060up akan tercatat di sini.',
    loadFailed: 'Riwayat belum bisa dimuat',
    topUpNumber: 'No Top-Up',
    packageName: 'Paket',
    packagePrice: 'Harga Paket',
    balanceAdded: 'Saldo Ditambahkan',
    closingBalance: 'Saldo Akhir',
    refundTime: 'Waktu Refund',
    purchaseFailedBody: 'Saldo sudah kembali, lihat baris Refund di Riwayat.',
    purchaseNotFoundBody: 'Segarkan riwayat, lalu coba lagi.',
  },
  account: {
    // Quoted by docs/product.md, to the letter.
    logOut: 'Keluar Aplikasi',
    nameTitle: 'Ubah Nama',
    changePassword: 'Ubah Kata Sandi',
    verifyChange: 'Verifikasi Perubahan',
    passwordChanged: 'Berhasil merubah sandi',
    nameChanged: 'Nama Berhasil Di Ubah',
    loggedOut: 'Berhasil Logout!',
    logoutFailed: 'gagal logout!',
    oldPasswordWrong: 'password lama salah',
    // Our own.
    numberFixedBody:
      'Untuk saat ini nomor WhatsApp tidak bisa diganti. Bila nomor Anda berganti, daftar lagi dengan nomor yang baru.',
    understood: 'Mengerti',
    changeName: (name: string) => `Ubah nama ${name}`,
    lastChanged: 'Terakhir diubah',
    oldPassword: 'Kata Sandi Lama',
    loadFailed: 'Akun belum bisa dimuat',
    updateFailed: 'Akun belum bisa diperbarui',
    checkOldPassword: 'Periksa lagi kata sandi lama Anda.',
  },
  topUp: {
    // Quoted by docs/product.md, to the letter.
    epayment: 'Top Up Epayment',
    howTo: 'Cara Top-Up',
    // Our own.
    alt: 'Kode QR Anda untuk ditunjukkan ke kasir',
    updated: 'Kode diperbarui sendiri setiap 2 menit',
    expired: 'Kode sudah kedaluwarsa',
    loadFailed: 'Kode QR belum bisa dimuat',
    loading: 'Memuat kode QR…',
    yourNumber: 'Nomor Anda',
    steps: [
      'Tunjukkan kode QR ini ke kasir',
      'Sebutkan jumlah top-up yang diinginkan',
      'Bayar dengan metode pembayaran yang ditentukan',
      'Periksa kembali saldo Anda',
    ],
  },
  common,
  failure,
} as const
