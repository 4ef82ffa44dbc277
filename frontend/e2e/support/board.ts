import type { Page } from '@playwright/test'
import { type FakeSocket, fakeSocket } from './fake-socket.ts'
import { expect } from './test.ts'
import { enter, readyShop, type Shop } from './till.ts'

/** Opens the board of a new outlet, as Rina or as the supervisor Hadi. */
export async function openBoard(
  page: Page,
  who: 'rina' | 'hadi' = 'rina',
  options: Parameters<typeof readyShop>[1] = {},
): Promise<Shop> {
  const shop = await readyShop(page, options)
  await enter(shop, who, '/kasir/mesin')
  return shop
}

/** The machines as the page shows them: name and state. */
export const machinesShown = (page: Page): Promise<string[]> =>
  page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>('[data-machine]')].map((tile) => {
      const name = tile.querySelector('[data-name]')?.textContent
      return `${name} ${tile.dataset.state}`
    }),
  )

interface StagedTile {
  id: number
  nama: string
  jenis: 'cuci' | 'kering' | 'lain'
  keadaan: string
  [more: string]: unknown
}

const NOTHING = { ukuran: null, sejak: null, ends_at: null, idtransaksi: null, layanan: null, jumlah: null }

export function stagedTile(
  id: number,
  nama: string,
  keadaan: string,
  more: Record<string, unknown> = {},
): StagedTile {
  const jenis = nama.startsWith('Pengering') ? 'kering' : 'cuci'
  const aksi = keadaan === 'jalan' ? ['tanya', 'tutup', 'stop'] : ['tanya', 'tutup', 'uji']
  return { ...NOTHING, kembali_at: null, ditutup: null, aksi, id, nama, jenis, keadaan, ...more }
}

/** Machines in every state, as many as wanted, and what needs a person. `now` is the page's time. */
export function stagedBoard(idoutlet: number, count: number, now: number) {
  const at = (minutes: number) => new Date(now + minutes * 60_000).toISOString()
  const washers = Math.round(count * 0.6)
  const mesin = Array.from({ length: count }, (_, i) => {
    const isWasher = i < washers
    const number = String(isWasher ? i + 1 : i + 1 - washers).padStart(2, '0')
    const nama = `${isWasher ? 'Cuci' : 'Pengering'} ${number}`
    const left_s = (i * 377) % 2_600
    const running = {
      sejak: new Date(now - (2_700 - left_s) * 1_000).toISOString(),
      ends_at: now + left_s * 1_000,
      layanan: isWasher ? 'Cuci Reguler' : 'Kering 30',
      idtransaksi: `SLF2611261432100${i}`,
    }
    const of = (keadaan: string, more = {}) => stagedTile(i + 1, nama, keadaan, more)
    if (i === 3) return of('jalan', { ...running, ends_at: now + 48_000 })
    if (i === 6)
      return of('belum_pasti', {
        ...running,
        ends_at: null,
        sejak: at(-2),
        jumlah: 15_000,
        kembali_at: at(12.8),
      })
    if (i === 7)
      return of('ditutup', {
        sejak: at(-90),
        ditutup: { alasan: 'Bocor', sejak: at(-90), oleh: 'Rina' },
        aksi: ['tanya', 'buka', 'uji'],
      })
    if (i === washers + 2)
      return of('menunggu', { ...running, ends_at: null, jumlah: 9_000, kembali_at: at(14) })
    if (i === washers + 3) return of('offline', { sejak: at(-27) })
    if (i === washers + 5) return of('perlu_petugas', { sejak: at(-12) })
    return i % 3 === 2 ? of('siap', { sejak: at(-20) }) : of('jalan', running)
  })
  const entry = (jenis: string, tingkat: string, i: number, minutes: number, more = {}) => ({
    jenis,
    tingkat,
    idoutlet,
    outlet: 'Laundry Melati',
    idmesin: mesin[i]?.id ?? null,
    idshift: null,
    nama: mesin[i]?.nama ?? 'Tablet depan',
    sejak: at(minutes),
    idtransaksi: null,
    jumlah: null,
    kembali_at: null,
    ditangani: null,
    ...more,
  })
  const perhatian = [
    entry('perlu_petugas', 'merah', washers + 5, -12),
    entry('belum_pasti', 'kuning', 6, -2, { jumlah: 15_000, kembali_at: at(12.8) }),
    entry('offline', 'abu', washers + 3, -27, {
      ditangani: { nama: 'Rina', sejak: at(-5), sampai: at(25) },
    }),
  ]
  const outlet = { idoutlet, nama: 'Laundry Melati', zona: 'Asia/Jakarta', tutup: null }
  return { status: 200, versi: 1, server_time: now, outlet, mesin, perhatian }
}

export interface StagedBoard {
  socket: FakeSocket
  shop: Shop
  topic: string
  board: ReturnType<typeof stagedBoard>
  /** How often the page has subscribed. */
  subscribed: () => number
}

/** Opens a board of a server that sends only what the test emits. `answers`: whether it answers a subscription now. */
export async function openStagedBoard(
  page: Page,
  count: number,
  { who = 'rina', answers = () => true }: { who?: 'rina' | 'hadi'; answers?: () => boolean } = {},
): Promise<StagedBoard> {
  const boards = new Map<number, ReturnType<typeof stagedBoard>>()
  let subscribed = 0
  const socket = await fakeSocket(page, (topic) => {
    const idoutlet = Number(topic.replace('papan/', ''))
    subscribed++
    if (!answers()) return undefined
    const board = boards.get(idoutlet) ?? stagedBoard(idoutlet, count, Date.now())
    boards.set(idoutlet, board)
    return board
  })
  const shop = await openBoard(page, who)
  await expect(page.locator('[data-machine]')).toHaveCount(count)
  const board = boards.get(shop.idoutlet)
  if (!board) throw new Error('the page did not subscribe to its outlet')
  return { socket, shop, topic: `papan/${shop.idoutlet}`, board, subscribed: () => subscribed }
}
