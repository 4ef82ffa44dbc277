import { clockTime, moment } from '@/shared/lib/text/format'
import type { Kind } from './calls'

const KINDS: Record<Kind, string> = { cuci: 'mesin cuci', kering: 'pengering', lain: 'mesin lain' }
const kindOf = (jenis: Kind) => KINDS[jenis] ?? KINDS.lain

/** Texts of the outlets' free machines. */
export const outletCopy = {
  title: 'Mesin siap',
  none: 'Belum ada outlet',
  noneBody: 'Outlet tempat Anda mengisi saldo tampil di sini.',
  unknown: 'Outlet ini tidak ada',
  unknownBody: 'Lihat outlet Anda yang lain.',
  mine: 'Outlet saya',
  kind: (jenis: Kind) => kindOf(jenis).charAt(0).toUpperCase() + kindOf(jenis).slice(1),
  ready: (count: number, jenis: Kind) =>
    count === 0 ? `Belum ada ${kindOf(jenis)} siap` : `${count} ${kindOf(jenis)} siap`,
  running: (count: number) => `${count} jalan`,
  next: 'berikutnya',
  left: 'lagi',
  notUsable: (count: number) => `${count} tidak bisa dipakai`,
  silent: (count: number) => `${count} belum terdengar`,
  asOf: (at_ms: number) => `per ${clockTime(at_ms)}`,
  unsure: 'Belum bisa dipastikan',
  unsureSince: (at_ms: number) => `Belum bisa dipastikan sejak ${clockTime(at_ms)}`,
  notReserved: 'Mesin tidak dipesan: siapa yang memindai lebih dulu, dia yang memakai.',
  closed: 'Outlet tutup',
  closedWhy: ({ alasan, sampai }: { alasan: string; sampai: string | null }) =>
    sampai === null ? alasan : `${alasan}, buka lagi ${moment(Date.parse(sampai))}`,
  states: { idle: 'Siap', diam: 'Belum terdengar', busy: 'Dipakai', offline: 'Tidak bisa dipakai' } as Record<
    string,
    string
  >,
  calledOther: (minutes: number) => `menunggu orang berikutnya, ${minutes} menit`,
  calledMe: 'untuk Anda',

  callMe: 'Panggil saya',
  callMeOf: (jenis: Kind) => `Panggil saya untuk ${kindOf(jenis)}`,
  waiting: (jenis: Kind) => `Menunggu ${kindOf(jenis)}`,
  place: (urutan: number) => (urutan <= 1 ? 'Anda yang berikutnya' : `Anda nomor ${urutan}`),
  waitsUntil: (at: string) => `Kami panggil sampai ${clockTime(at)}`,
  elsewhere: 'Anda menunggu di outlet lain.',
  seeIt: 'Lihat',
  called: (machine: string) => `${machine} siap untuk Anda`,
  calledBody: 'Pindai stikernya sebelum waktu ini habis. Sesudah itu giliran orang berikutnya.',
  scan: 'Scan mesin',
  stop: 'Berhenti menunggu',
  stopped: 'Anda tidak menunggu lagi',
  over: 'Panggilan sudah selesai',
  notify: 'Beri tahu saya saat dipanggil',
} as const
