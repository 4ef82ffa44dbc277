/** A day's figures as the server sends them: fourteen machines, four of them in trouble. `day` is `2026-11-24`, in Jakarta. */
export function stagedSummary(dari: string, sampai: string, share = 1) {
  const at = (time: string) => `${dari}T${time}:00+07:00`
  const band = (from: string, until: string, keadaan: string) => ({
    dari: at(from),
    sampai: at(until),
    keadaan,
  })
  const oneDay = dari === sampai
  const names = [
    ...Array.from({ length: 8 }, (_, i) => `Cuci 0${i + 1}`),
    ...Array.from({ length: 6 }, (_, i) => `Pengering 0${i + 1}`),
  ]
  const per_mesin = names.map((nama, i) => {
    const runs = Array.from({ length: 9 }, (_, n) => {
      const minute = 420 + ((i * 37 + n * 103) % 900)
      const clock = (of: number) =>
        `${String(Math.floor(of / 60)).padStart(2, '0')}:${String(of % 60).padStart(2, '0')}`
      return { ...band(clock(minute), clock(minute + 40), 'jalan'), minute }
    }).sort((a, b) => a.minute - b.minute)
    const gone = band('03:10', '03:34', 'tidak_diketahui')
    const trouble: Record<string, object> = {
      'Cuci 08': { siklus: 0, pendapatan: 0, menit_mati: 1_440, pita: [band('00:00', '23:59', 'ditutup')] },
      'Pengering 06': {
        siklus: 3,
        pendapatan: 34_000,
        menit_mati: 640,
        pita: [gone, ...runs.slice(0, 3), band('13:20', '23:59', 'perlu_petugas')],
      },
      'Pengering 04': {
        siklus: 5,
        pendapatan: 54_000,
        menit_mati: 192,
        pita: [gone, ...runs.slice(0, 4), band('13:48', '17:00', 'offline')],
      },
      'Cuci 07': {
        siklus: 5,
        menit_mati: 15,
        pita: [gone, ...runs.slice(0, 4), band('20:14', '20:29', 'belum_pasti')],
      },
    }
    const machine = {
      idmesin: i + 1,
      nama,
      jenis: i < 8 ? 'cuci' : 'kering',
      siklus: Math.round((9 + (i % 3)) * share),
      pendapatan: Math.round((90_000 + i * 4_000) * share),
      biasa: oneDay ? (i % 4 === 1 ? 9.5 : 9) : null,
      menit_mati: 0,
      sejak_servis: 120 + i * 96,
      pita: [gone, ...runs].map(({ dari, sampai, keadaan }) => ({ dari, sampai, keadaan })),
      ...trouble[nama],
    }
    return oneDay ? machine : { ...machine, pita: [] }
  })
  const sum = (field: 'pendapatan' | 'siklus' | 'menit_mati') =>
    per_mesin.reduce((total, one) => total + one[field], 0)
  return {
    dari,
    sampai,
    pendapatan: sum('pendapatan'),
    pemakaian: sum('pendapatan') + 82_000,
    siklus: sum('siklus'),
    per_mesin,
    per_hari: stagedDays(dari, sampai),
    topup: { tunai: 610_000, qris: 780_000, transfer: 100_000, lain: 0 },
    topup_kali: { tunai: 13, qris: 17, transfer: 1, lain: 0 },
    saldo_beredar: 19_640_000,
    selisih_kas: -15_000,
    koin: null,
    batal: 150_000,
    refund: 82_000,
    menit_mati: sum('menit_mati'),
    kembali_sendiri: { jumlah: 25_000, kali: 2 },
    banding: {
      dari: plus(dari, -7),
      sampai: plus(sampai, -7),
      hingga: `${plus(sampai, -6)}T00:00:00+07:00`,
      pendapatan: Math.round(sum('pendapatan') / 1.11),
      siklus: sum('siklus') - 8,
    },
    per_orang: [
      { petugas: 'Pak Hadi', batal: 100_000, batal_kali: 1, refund: 0, refund_kali: 0 },
      { petugas: 'Rina', batal: 50_000, batal_kali: 1, refund: 24_000, refund_kali: 2 },
      { petugas: 'Tono', batal: 0, batal_kali: 0, refund: 58_000, refund_kali: 5 },
    ],
    saldo: { lain: 51_600_000, batas: 1_000_000_000, ingatkan: 800_000_000, perubahan: 138_000 },
  }
}

export const plus = (day: string, days: number) =>
  new Date(Date.parse(`${day}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10)

/** A row of `harian` for each day. */
export function stagedDays(dari: string, sampai: string) {
  const rows = []
  for (let day = dari, n = 0; day <= sampai; day = plus(day, 1), n++)
    rows.push({
      tanggal: day,
      pendapatan: 1_160_000 + ((n * 7919) % 420) * 1_000,
      siklus: 96 + ((n * 13) % 24),
    })
  return rows
}

export function stagedShifts(day: string) {
  const shift = (
    idshift: number,
    nama: string,
    from: string,
    until: string | null,
    selisih: number | null,
  ) => ({
    idshift,
    perangkat: 'tablet kasir depan',
    dibuka_at: `${day}T${from}:00+07:00`,
    dibuka_oleh: nama,
    ditutup_at: until && `${day}T${until}:00+07:00`,
    ditutup_oleh: until && nama,
    modal: 200_000,
    diharapkan: until && 500_000,
    dihitung: until && 500_000 + (selisih ?? 0),
    selisih,
    catatan: null,
  })
  return [
    shift(1, 'Rina', '07:02', '15:01', 0),
    shift(2, 'Tono', '15:01', '23:04', -15_000),
    shift(3, 'Dewi', '23:05', null, null),
  ]
}
