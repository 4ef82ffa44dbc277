/** The server's endpoints as the tests use them: the customer's calls, the operators' and the development ones. */
const url = () => process.env.NYALA_URL ?? ''

export interface Answer<T> {
  status: number
  message: string
  data: T
}

async function send<T>(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(url() + path, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return (await response.json()) as Answer<T>
}

function must<T>(path: string, answer: Answer<T>): T {
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.message}`)
  return answer.data
}

let count = 0
const unique = () => `${process.pid.toString(36)}-${Date.now().toString(36)}-${count++}`

export async function ops<T>(path: string, body: unknown): Promise<T> {
  const headers = { authorization: `Bearer ${process.env.NYALA_KEY}`, 'idempotency-key': unique() }
  return must(path, await send<T>('POST', `/ops/v1/${path}`, body, headers))
}

export interface Sold {
  idpembelian_emoney: string
  nama: string
  quota: number
  petugas: string | null
  batal_at: string | null
}

/** The top-ups of an outlet, newest first. */
export async function sold(idoutlet: number): Promise<Sold[]> {
  const path = `topup?idoutlet=${idoutlet}`
  const headers = { authorization: `Bearer ${process.env.NYALA_KEY}` }
  return must(path, await send<{ baris: Sold[] }>('GET', `/ops/v1/${path}`, undefined, headers)).baris
}

/** What the server says of an outlet's machines now: name and state. */
export async function machinesNow(idoutlet: number): Promise<string[]> {
  const path = `mesin?idoutlet=${idoutlet}`
  const headers = { authorization: `Bearer ${process.env.NYALA_KEY}` }
  const answer = await send<{ mesin: { nama: string; keadaan: string }[] }>(
    'GET',
    `/ops/v1/${path}`,
    undefined,
    headers,
  )
  return must(path, answer).mesin.map(({ nama, keadaan }) => `${nama} ${keadaan}`)
}

export async function scan<T>(path: string, body?: unknown, token?: string): Promise<Answer<T>> {
  const headers = token ? { authorization: `Bearer ${token}` } : undefined
  return send<T>(body === undefined ? 'GET' : 'POST', `/scan/v1/${path}`, body, headers)
}

/** The newest code sent to a number. */
export async function lastCode(telp: string): Promise<string> {
  const sent = await send<{ code: string }[]>('GET', `/dev/whatsapp?telp=${telp}`)
  const code = sent.data[0]?.code
  if (!code) throw new Error(`no code was sent to ${telp}`)
  return code
}

/** The text of the newest message to a number. */
export async function lastText(telp: string): Promise<string> {
  const sent = await send<{ text: string }[]>('GET', `/dev/whatsapp?telp=${telp}`)
  const text = sent.data[0]?.text
  if (!text) throw new Error(`no message was sent to ${telp}`)
  return text
}

export async function codesSent(telp: string): Promise<number> {
  return (await send<unknown[]>('GET', `/dev/whatsapp?telp=${telp}`)).data.length
}

export type Fault = 'ok' | 'refuse' | 'silent' | 'late' | 'offline'

export async function fault(idmesin: number, mode: Fault): Promise<void> {
  must('fault', await send('POST', `/dev/mesin/${idmesin}/fault`, { mode }))
}

/** A number that no customer has yet. */
export function newTelp(): string {
  const digits = String(Math.floor(Math.random() * 1e9)).padStart(9, '0')
  return `85${digits}`
}

export interface Customer {
  telp: string
  password: string
  nama: string
  token: string
}

export async function newCustomer(name = 'Budi Santoso', telp = newTelp()): Promise<Customer> {
  const password = 'Rahasia123'
  must('request_otp', await scan('auth/request_otp', { telp, country_code: '62' }))
  const otp = await lastCode(telp)
  const answer = await scan<{ token: string }>('auth/register', {
    otp,
    telp,
    country_code: '62',
    password,
    nama: name,
  })
  return { telp, password, nama: name, token: must('register', answer).token }
}

export interface Machine {
  id: number
  qr: string
  kode: string
  nama: string
}

export interface World {
  idowner: number
  idoutlet: number
  outlet: string
  machine: Machine
}

/** An owner with one outlet, the services named (seconds and rupiah) and one simulated machine. */
export async function newWorld(
  services: { nama: string; durasi: number; harga: number }[],
  outlet = `Laundry ${unique().slice(-6)}`,
): Promise<World> {
  const { idowner } = await ops<{ idowner: number }>('owner', { nama: `Pemilik ${outlet}` })
  const place = { kota: 'Bandung', latitude: -6.9147, longitude: 107.6098 }
  const { idoutlet } = await ops<{ idoutlet: number }>('outlet', { idowner, nama: outlet, ...place })
  for (const one of services) await ops('layanan', { idoutlet, ...one })
  const machine = await newMachine(idoutlet, 'Mesin 07')
  return { idowner, idoutlet, outlet, machine }
}

export async function newMachine(idoutlet: number, name: string): Promise<Machine> {
  const made = await ops<Omit<Machine, 'nama'>>('mesin', { idoutlet, nama: name, driver: 'sim' })
  return { ...made, nama: name }
}

export async function topUp(
  customer: Customer,
  idoutlet: number,
  nominal: number,
): Promise<{ idcustomer: number }> {
  return ops('topup', { telp: customer.telp, idoutlet, nominal })
}

interface Account {
  quota_emoney: { saldo: number } | null
}

export async function balance(customer: Customer): Promise<number> {
  const path = 'dashboard/get_user_epayment_by_id_customer_global'
  const accounts = must(path, await scan<Account[]>(path, undefined, customer.token))
  return accounts.reduce((sum, { quota_emoney }) => sum + (quota_emoney?.saldo ?? 0), 0)
}
