import { expect, type Page } from '@playwright/test'
import type { FakeSocket } from '../support/fake-socket.ts'
import { writeQr } from '../support/qr.ts'
import { still } from '../support/still.ts'
import { accounts, dashboard, details, history, LAST_USE, NOW, siti, TOKEN } from './people.ts'
import { type Answers, type Ends, raise } from './server.ts'
import type { Props } from './still.ts'

/** A screen of the app in one of its states. */
export interface Screen {
  /** Name of its picture and its measurements. */
  name: string
  path: string
  /** The screen is shown without a login. */
  public?: true
  /** The answers of the server that differ from the usual ones. */
  answers?: Answers
  /** Content of the phone's session storage, as JSON. */
  session?: Record<string, unknown>
  /** Content of its local storage, as JSON, beside the token. */
  local?: Record<string, unknown>
  /** Address of a picture for the camera, or the reason why there is no camera (`still.ts`). Without it there is no camera. */
  camera?: string
  /** A timeout of the app, ms, that ends at once. */
  hurried?: number
  /** A new version of the app waits to be activated. */
  update?: true
  /** Result of the request for notifications about the end of a wash; allowed by default. */
  push?: Props['push']
  /** Files of the app that fail to load. */
  lost?: string
  /** Files of the app that are still loading. */
  held?: string
  /** Leads from the screen as it opens to its state; it may change the server's answers. */
  act?: (page: Page, socket: FakeSocket, answers: Answers) => Promise<void>
  /** Text that appears when the state is reached. */
  shows: string | RegExp
  /** The screen's main action: at the bottom, in reach of the thumb. */
  action?: string | RegExp
}

/** The ends of the dashboard's cycles, so that a subscription to a machine sends the same ones. */
function endsOf({ 'dashboard/get_dashboard': home }: Answers): Ends {
  const runs = typeof home === 'object' && 'list_snap_transaksi' in home ? home.list_snap_transaksi : []
  return Object.fromEntries(
    runs.flatMap(({ ends_at, snap_transaksi_detail: [detail] }) =>
      ends_at && detail ? [[detail.idmesin, ends_at]] : [],
    ),
  )
}

/** The usual answers of the server: a customer with two wallets and no machine. */
const usual = async (): Promise<Answers> => ({
  'akun/pindah': null,
  'akun/request_otp_password': {},
  'dashboard/customer_global': siti,
  'dashboard/get_dashboard': dashboard(),
  'dashboard/get_user_epayment_by_id_customer_global': accounts,
  'epayment/qris': [],
  'push/kunci': { kunci: '' },
  'push/langganan': null,
  'transaksi/get_epayment': accounts,
  'transaksi/get_qrcode': await writeQr('NYC1.stage.0123456789abcdef0123456789abcdef0123456789abcdef'),
  'transaksi/list_history': history(),
  'transaksi/terakhir': LAST_USE,
  ...details,
})

/** Opens the screen and waits until nothing moves. */
export async function open(page: Page, screen: Screen): Promise<void> {
  const {
    path,
    answers,
    session = {},
    local = {},
    camera = null,
    hurried = null,
    update = false,
    push = 'allowed',
    lost,
    held,
    act,
    shows,
  } = screen
  const json = (values: Record<string, unknown>): Record<string, string> =>
    Object.fromEntries(Object.entries(values).map(([key, value]) => [key, JSON.stringify(value)]))
  const phone = {
    now: NOW,
    local: { ...json(local), ...(!screen.public && { token: TOKEN }) },
    session: json(session),
    camera,
    hurried,
    update,
    push,
  }
  const replies = { ...(await usual()), ...answers }
  const socket = await raise(page, phone, replies, endsOf(replies))
  if (lost) await page.route(lost, (route) => route.abort())
  if (held) await page.route(held, () => undefined)
  await page.goto(path)
  await expect(page.locator('main')).toBeAttached()
  await act?.(page, socket, replies)
  await expect(page.getByText(shows).filter({ visible: true }).first()).toBeVisible()
  // While a screen's file is still loading, its place shows the same "Memuat…" as a screen that waits for its data, but no heading.
  await expect(page.locator('h1')).toBeAttached()
  await atRest(page)
}

/** The font and the pictures are loaded, and nothing moves any more. */
async function atRest(page: Page): Promise<void> {
  await page.evaluate(async () => {
    await document.fonts.ready
    // Some parts of a screen load only when the phone is idle.
    await new Promise((idle) => requestIdleCallback(idle))
    const seen = [...document.images].filter((image) => image.checkVisibility())
    await Promise.all(seen.map((image) => image.decode().catch(() => undefined)))
  })
  await still(page)
}
