import type { Page, Route } from '@playwright/test'
import type { components } from '../../src/shared/api/schema.gen.ts'
import { type FakeSocket, fakeSocket } from '../support/fake-socket.ts'
import { type Props, standStill } from './still.ts'

export type Schemas = components['schemas']

/** A refusal by the server. */
export class Refusal {
  readonly status: number
  readonly message: string
  readonly data: unknown

  constructor(status: number, message: string, data: unknown = null) {
    this.status = status
    this.message = message
    this.data = data
  }
}

/** The server has not answered yet. */
export const SILENT = Symbol('silent')
/** The connection breaks. */
export const CUT = Symbol('cut')

/** The answer's `data` of each call, by the first two path segments after `/scan/v1/`. */
interface Calls {
  'akun/pindah': Schemas['PindahMenunggu'] | Schemas['Empty']['data']
  'akun/request_otp_password': Schemas['Empty']['data']
  'auth/login': Schemas['TokenData']
  'dashboard/customer_global': Schemas['CustomerGlobal']
  'dashboard/get_dashboard': Schemas['Dashboard']
  'dashboard/get_user_epayment_by_id_customer_global': Schemas['AkunEpay'][]
  'epayment/get_detail_batal': Schemas['DetailBatal']
  'epayment/get_detail_penarikan': Schemas['DetailPenarikan']
  'epayment/get_detail_pindah': Schemas['DetailPindah']
  'epayment/get_detail_refund': Schemas['DetailRefund']
  'epayment/get_detail_saldo_awal': Schemas['DetailSaldoAwal']
  'epayment/get_epayment': Schemas['DetailTopUp']
  'epayment/qris': Schemas['OutletQris'][]
  'epayment/tagihan': Schemas['Tagihan']
  'push/kunci': Schemas['KunciPush']
  'push/langganan': Schemas['Empty']['data']
  'transaksi/create_snap_transaksi': Schemas['Started']
  'transaksi/get_detail_snap_hapus': Schemas['RincianTransaksi']
  'transaksi/get_detail_snap_transaksi': Schemas['RincianTransaksi']
  'transaksi/get_epayment': Schemas['AkunEpay'][]
  'transaksi/get_layanan': Schemas['Layanan']
  'transaksi/get_qrcode': string
  'transaksi/list_history': Schemas['History']
  'transaksi/terakhir': Schemas['Terakhir'] | null
}

/** The body of a call. */
type Body = Record<string, unknown>

export type Answers = {
  [Call in keyof Calls]?:
    | Calls[Call]
    | ((body: Body) => Calls[Call] | Refusal)
    | Refusal
    | typeof SILENT
    | typeof CUT
}

/** The ends of a customer's cycles by machine, epoch ms. */
export type Ends = Record<number, number>

async function answer(route: Route, answers: Answers): Promise<void> {
  const call = new URL(route.request().url()).pathname.split('/').slice(3, 5).join('/')
  if (!(call in answers)) throw new Error(`the stage has no answer for ${call}`)
  const data = answers[call as keyof Answers]
  if (data === SILENT) return
  if (data === CUT) return route.abort()
  const reply = typeof data === 'function' ? data(route.request().postDataJSON()) : data
  if (reply instanceof Refusal) {
    const { status, message, data } = reply
    return route.fulfill({ status, json: { status, message, data } })
  }
  return route.fulfill({ json: { status: 200, message: 'ok', data: reply } })
}

/**
 * Prepares the app with a server that always answers the same, at a fixed moment: every picture and every measurement of a screen is
 * reproducible. The files are the real server's. Call it before the page is opened.
 */
export async function raise(page: Page, phone: Props, answers: Answers, ends: Ends): Promise<FakeSocket> {
  await page.emulateMedia({ reducedMotion: 'reduce' })
  const socket = await fakeSocket(page, (topic) => {
    const ends_at = ends[Number(topic.split('/')[1])] ?? null
    return { status: 200, tl: ends_at && ends_at - phone.now, ends_at, server_time: phone.now }
  })
  await page.addInitScript(standStill, phone)
  await page.route('**/scan/v1/**', (route) => answer(route, answers))
  return socket
}
