/** Texts of the stickers, on the screen and on paper. */
export const stiker = {
  none: 'Belum ada mesin',
  noneBody: 'Stiker dicetak setelah mesin ditambahkan.',
  how: 'Cetak di kertas stiker A4, sepuluh stiker selembar, dengan skala 100 %.',
  choose: 'Mesin yang dicetak',
  all: 'Pilih semua',
  allNone: 'Kosongkan pilihan',
  print: (count: number, sheets: number) => `Cetak ${count} stiker, ${sheets} lembar`,
  printNone: 'Pilih mesinnya dulu',

  renew: 'Ganti stiker',
  renewOf: (name: string) => `Ganti stiker ${name}`,
  renewWhat: (name: string) =>
    `Stiker ${name} yang lama tidak bisa dipindai lagi. Cetak dan tempel yang baru.`,
  reasons: ['Stiker rusak', 'Stiker hilang', 'Disalin orang'],
  renewed: (name: string) => `Stiker ${name} sudah diganti. Cetak dan tempel yang baru.`,

  scan: 'Pindai untuk mulai',
  typed: 'Kode',
  codeOf: (name: string) => `Kode QR ${name}`,
  ruler: '100 mm',
  scale: 'cetak 100 %',
} as const
