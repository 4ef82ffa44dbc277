import type { Page } from '@playwright/test'
import { newCustomer, newWorld, topUp } from './support/api.ts'
import { buy } from './support/buy.ts'
import { type FakeSocket, fakeSocket } from './support/fake-socket.ts'
import { lookAtSizes } from './support/look.ts'
import { PHONE } from './support/sizes.ts'
import { expect, openAs, test } from './support/test.ts'

const MINUTE = 60_000
type Machine = ReturnType<typeof machine>

const machine = (id: number, nama: string, status: string, more: object = {}) => ({
  id,
  nama,
  jenis: nama.startsWith('Pengering') ? 'kering' : 'cuci',
  status,
  ends_at: null as number | null,
  dipanggil_sampai: null as string | null,
  ...more,
})

/** A server with one outlet, whose machines and call the test sets. */
interface Staged {
  machines: Machine[]
  call: object | null
  tutup: object | null
  /** Refuses the next `panggil` because a machine has just become free. */
  refuse: boolean
  socket: FakeSocket
  /** Changes machines or the closing, and sends that. */
  change: (changed: { mesin?: Machine[]; tutup?: object }) => void
}

async function stage(page: Page): Promise<Staged> {
  const now = Date.now()
  const outlet = {
    idoutlet: 7,
    nama: 'Laundry Melati',
    kota: 'Yogyakarta',
    alamat: 'Jl. Kaliurang km 5 no. 12',
  }
  let versi = 1
  const here = () => ({ ...outlet, tutup: staged.tutup })
  const staged: Staged = {
    machines: [
      machine(1, 'Cuci 01', 'busy', { ends_at: now + 48_000 }),
      machine(2, 'Cuci 02', 'busy', { ends_at: now + 24 * MINUTE }),
      machine(3, 'Cuci 03', 'offline'),
      machine(4, 'Pengering 01', 'idle'),
      machine(5, 'Pengering 02', 'idle'),
      machine(6, 'Pengering 03', 'diam'),
      machine(7, 'Pengering 04 dekat pintu belakang', 'busy'),
    ],
    call: null,
    tutup: null,
    refuse: false,
    socket: await fakeSocket(page, (topic) =>
      topic === 'outlet/7'
        ? { status: 200, versi, server_time: Date.now(), outlet: here(), mesin: staged.machines }
        : undefined,
    ),
    change({ mesin, tutup }) {
      staged.machines = staged.machines.map((one) => mesin?.find(({ id }) => id === one.id) ?? one)
      if (tutup) staged.tutup = tutup
      versi += 1
      const outlet = tutup && { outlet: here() }
      staged.socket.emit('outlet/7', { versi, server_time: Date.now(), ...(mesin && { mesin }), ...outlet })
    },
  }
  const answer = (data: unknown) => ({ json: { status: 200, message: 'OK', data } })
  await page.route(/\/scan\/v1\/(outlet|panggil)/, (route) => {
    const { pathname } = new URL(route.request().url())
    if (pathname.endsWith('/outlet')) {
      const jenis = [
        { jenis: 'cuci', siap: 0, jalan: 2, berikutnya_at: new Date(now + 48_000).toISOString() },
        { jenis: 'kering', siap: 2, jalan: 1, berikutnya_at: null },
      ]
      const closed = { alasan: 'Air mati', sampai: null }
      const other = { ...outlet, idoutlet: 8, nama: 'Laundry Kenanga', tutup: closed, jenis: [] }
      return route.fulfill(answer([{ ...here(), jenis }, other]))
    }
    if (pathname.endsWith('/mesin')) {
      if (!pathname.includes('/7/'))
        return route.fulfill({
          status: 404,
          json: { status: 404, message: 'outlet tidak ditemukan', data: null },
        })
      return route.fulfill(answer({ outlet: here(), server_time: Date.now(), mesin: staged.machines }))
    }
    if (pathname.endsWith('/berhenti')) {
      staged.call = null
      return route.fulfill(answer(null))
    }
    if (route.request().method() === 'GET') return route.fulfill(answer(staged.call))
    if (staged.refuse) {
      staged.refuse = false
      staged.machines = [machine(1, 'Cuci 01', 'idle'), ...staged.machines.slice(1)]
      return route.fulfill({ status: 409, json: { status: 409, message: 'ada mesin yang siap', data: null } })
    }
    const { jenis } = route.request().postDataJSON()
    staged.call = {
      id: 1,
      idoutlet: 7,
      jenis,
      urutan: 2,
      sampai: new Date(now + 120 * MINUTE).toISOString(),
      dipanggil: null,
    }
    return route.fulfill(answer(staged.call))
  })
  return staged
}

async function openOutlet(page: Page, path = '/outlet/7'): Promise<Staged> {
  const staged = await stage(page)
  await openAs(page, await newCustomer(), path)
  return staged
}

const group = (page: Page, name: string) => page.getByRole('region', { name, exact: true })
const row = (page: Page, name: string) => page.getByRole('listitem').filter({ hasText: name })
const own = (page: Page) => page.getByRole('region', { name: 'Panggil saya', exact: true })

test('the dashboard leads to the outlets, and each outlet to its machines', async ({ page }) => {
  const world = await newWorld([])
  const customer = await newCustomer()
  await topUp(customer, world.idoutlet, 20_000)
  await stage(page)
  await openAs(page, customer)
  await page.getByRole('link', { name: 'Mesin siap di outlet' }).press('Enter')
  await expect(page.getByRole('heading', { name: 'Mesin siap', level: 1 })).toBeVisible()
  const card = row(page, 'Laundry Melati')
  await expect(card).toContainText('Belum ada mesin cuci siap')
  await expect(card).toContainText(/2 jalan, berikutnya 00:\d\d lagi/)
  await expect(card).toContainText('2 pengering siap')
  await expect(row(page, 'Laundry Kenanga')).toContainText('Outlet tutup: Air mati')
  await expect(page.getByText(/^per \d\d\.\d\d$/)).toBeVisible()
  await card.getByRole('link').press('Enter')
  await expect(page.getByRole('heading', { name: 'Laundry Melati', level: 1 })).toBeVisible()
  await page.getByRole('button', { name: 'Kembali' }).press('Enter')
  await expect(page.getByRole('heading', { name: 'Mesin siap', level: 1 })).toBeVisible()
})

test('a machine that somebody starts is in use on the page, and who wants it next waits', async ({
  page,
}) => {
  const world = await newWorld([{ nama: 'Cuci Reguler', durasi: 2_100, harga: 15_000 }])
  const [customer, other] = [await newCustomer(), await newCustomer('Rina Wijaya')]
  for (const one of [customer, other]) await topUp(one, world.idoutlet, 20_000)
  await openAs(page, customer, '/outlet')
  await expect(row(page, world.outlet)).toContainText('1 mesin cuci siap')
  await row(page, world.outlet).getByRole('link').click()
  await expect(row(page, 'Mesin 07')).toContainText('Siap')
  await buy(other, world)
  // Without news of the topic, the page asks again within this time.
  await expect(row(page, 'Mesin 07')).toContainText(/3[45]:\d\d/, { timeout: 40_000 })
  await page.getByRole('button', { name: 'Panggil saya untuk mesin cuci' }).click()
  await expect(own(page)).toContainText('Anda yang berikutnya')
  await own(page).getByRole('button', { name: 'Berhenti menunggu' }).click()
  await expect(own(page)).toHaveCount(0)
})

test('an outlet’s machines are live, and only what was heard is ready', async ({ page }) => {
  const { change } = await openOutlet(page)
  const dryers = group(page, 'Pengering')
  await expect(dryers).toContainText('2 pengering siap')
  await expect(dryers).toContainText('1 belum terdengar')
  await expect(group(page, 'Mesin cuci')).toContainText('1 tidak bisa dipakai')
  await expect(row(page, 'Cuci 02')).toContainText(/2[34]:\d\d/)
  await expect(page.getByText(/Mesin tidak dipesan/)).toBeVisible()
  change({ mesin: [machine(4, 'Pengering 01', 'busy', { ends_at: Date.now() + 30 * MINUTE })] })
  await expect(dryers).toContainText('1 pengering siap')
  await expect(row(page, 'Pengering 01')).toContainText(/(30:00|29:\d\d)/)
  // Somebody else is called to the last one: it is not for everybody.
  const until = new Date(Date.now() + 90_000).toISOString()
  change({ mesin: [machine(5, 'Pengering 02', 'idle', { dipanggil_sampai: until })] })
  await expect(row(page, 'Pengering 02')).toContainText('menunggu orang berikutnya, 2 menit')
  await expect(dryers).toContainText('Belum ada pengering siap')
  change({ tutup: { alasan: 'Listrik mati', sampai: null } })
  await expect(page.getByText('Listrik mati')).toBeVisible()
  await expect(page.getByRole('button', { name: /Panggil saya/ })).toHaveCount(0)
})

test('who waits is called, sees the countdown, and can stop, by the keyboard alone', async ({ page }) => {
  const staged = await openOutlet(page)
  // Dryers are free: nobody waits for them.
  await expect(page.getByRole('button', { name: 'Panggil saya untuk pengering' })).toHaveCount(0)
  await page.getByRole('button', { name: 'Panggil saya untuk mesin cuci' }).press('Enter')
  await expect(own(page)).toContainText('Menunggu mesin cuci')
  await expect(own(page)).toContainText('Anda nomor 2')
  await expect(page.getByRole('button', { name: /Panggil saya untuk/ })).toHaveCount(0)

  const sampai = new Date(Date.now() + 3 * MINUTE).toISOString()
  staged.call = { ...staged.call, urutan: 1, dipanggil: { idmesin: 1, mesin: 'Cuci 01', sampai } }
  staged.change({ mesin: [machine(1, 'Cuci 01', 'idle', { dipanggil_sampai: sampai })] })
  await expect(own(page)).toContainText('Cuci 01 siap untuk Anda')
  await expect(own(page)).toContainText(/0[23]:\d\d/)
  await expect(row(page, 'Cuci 01')).toContainText('Siap, untuk Anda')
  await expect(own(page).getByRole('link', { name: 'Scan mesin' })).toHaveAttribute('href', '/scanPage')
  await own(page).getByRole('button', { name: 'Berhenti menunggu' }).press('Enter')
  await expect(page.getByText('Anda tidak menunggu lagi')).toBeVisible()
  await expect(own(page)).toHaveCount(0)
})

test('a refusal is said, and the page shows what has changed', async ({ page }) => {
  const staged = await openOutlet(page)
  const ask = page.getByRole('button', { name: 'Panggil saya untuk mesin cuci' })
  await expect(ask).toBeVisible()
  staged.refuse = true
  await ask.click()
  await expect(page.getByText('ada mesin yang siap')).toBeVisible()
  await expect(group(page, 'Mesin cuci')).toContainText('1 mesin cuci siap')
  await expect(page.getByRole('button', { name: /Panggil saya untuk/ })).toHaveCount(0)
  await page.goto('/outlet/99')
  await expect(page.getByText('Outlet ini tidak ada')).toBeVisible()
  await page.goto('/outlet/abc')
  await expect(page.getByText('Outlet ini tidak ada')).toBeVisible()
})

test('without news nothing is certain', async ({ page }) => {
  await page.clock.install()
  const { socket } = await openOutlet(page)
  await expect(group(page, 'Pengering')).toContainText('2 pengering siap')
  await socket.cut()
  await page.route(/\/scan\/v1\/(outlet|panggil)/, (route) => route.abort())
  await page.clock.runFor(31_000)
  await expect(page.getByText(/^Belum bisa dipastikan sejak \d\d\.\d\d$/)).toBeVisible()
  await expect(group(page, 'Pengering')).not.toContainText('2 pengering siap')
  await expect(row(page, 'Pengering 01')).toContainText('Belum bisa dipastikan')
  await expect(page.getByRole('button', { name: /Panggil saya untuk/ })).toHaveCount(0)
})

test('looks well at each size', async ({ page }) => {
  await page.setViewportSize(PHONE)
  const staged = await openOutlet(page, '/outlet')
  await expect(row(page, 'Laundry Melati')).toBeVisible()
  await lookAtSizes(page, 'outlet-daftar')
  await page.goto('/outlet/7')
  await expect(group(page, 'Pengering')).toBeVisible()
  await lookAtSizes(page, 'outlet-mesin')
  await page.getByRole('button', { name: 'Panggil saya untuk mesin cuci' }).click()
  await expect(own(page)).toBeVisible()
  await lookAtSizes(page, 'outlet-menunggu')
  const sampai = new Date(Date.now() + 3 * MINUTE).toISOString()
  staged.call = { ...staged.call, urutan: 1, dipanggil: { idmesin: 1, mesin: 'Cuci 01', sampai } }
  await expect(own(page)).toContainText('siap untuk Anda')
  await lookAtSizes(page, 'outlet-dipanggil')
})
