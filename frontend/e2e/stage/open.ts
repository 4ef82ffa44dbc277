import { expect, type Page } from '@playwright/test'
import type { FakeSocket } from '../support/fake-socket.ts'
import { writeQr } from '../support/qr.ts'
import { still } from '../support/still.ts'
import { accounts, dashboard, details, history, LAST_USE, NOW, siti, TOKEN } from './people.ts'
import { type Answers, type Ends, raise } from './server.ts'
import type { Props } from './still.ts'

/** A screen of the app in one of its states. */
export interface Screen {
  /** Of its picture, and its measures. */
  name: string
  path: string
  /** Nobody is logged in. */
  public?: true
  /** What the server says, where it is not what it mostly says. */
  answers?: Answers
  /** What the phone has kept, as JSON. */
  session?: Record<string, unknown>
  /** A picture for the camera, as an address, or why there is none of it (`still.ts`); no camera without. */
  camera?: string
  /** How long the app waits, ms, for what is over at once. */
  hurried?: number
  /** A new version of the app waits. */
  update?: true
  /** What comes of wanting to be told when a wash is over; else it is allowed. */
  push?: Props['push']
  /** Files of the app that do not come. */
  lost?: string
  /** Files that are on their way. */
  held?: string
  /** From the screen as it opens to its state; the server may change what it says. */
  act?: (page: Page, socket: FakeSocket, answers: Answers) => Promise<void>
  /** Words that are there when it has come to that. */
  shows: string | RegExp
  /** What one mostly comes for: at the bottom, in reach of the thumb. */
  action?: string | RegExp
}

/** Of the runs that the dashboard tells of, so that whoever listens to a machine hears the same. */
function endsOf({ 'dashboard/get_dashboard': home }: Answers): Ends {
  const runs = typeof home === 'object' && 'list_snap_transaksi' in home ? home.list_snap_transaksi : []
  return Object.fromEntries(
    runs.flatMap(({ ends_at, snap_transaksi_detail: [detail] }) =>
      ends_at && detail ? [[detail.idmesin, ends_at]] : [],
    ),
  )
}

/** What the server mostly says: of somebody with two accounts and no machine. */
const usual = async (): Promise<Answers> => ({
  'akun/request_otp_password': {},
  'dashboard/customer_global': siti,
  'dashboard/get_dashboard': dashboard(),
  'dashboard/get_user_epayment_by_id_customer_global': accounts,
  'push/kunci': { kunci: '' },
  'push/langganan': null,
  'transaksi/get_epayment': accounts,
  'transaksi/get_qrcode': await writeQr('NYC1.stage.0123456789abcdef0123456789abcdef0123456789abcdef'),
  'transaksi/list_history': history(),
  'transaksi/terakhir': LAST_USE,
  ...details,
})

/** Opens the screen and waits until it stands still. */
export async function open(page: Page, screen: Screen): Promise<void> {
  const {
    path,
    answers,
    session = {},
    camera = null,
    hurried = null,
    update = false,
    push = 'allowed',
    lost,
    held,
    act,
    shows,
  } = screen
  const kept = Object.entries(session).map(([key, value]) => [key, JSON.stringify(value)])
  const phone = {
    now: NOW,
    local: screen.public ? ({} as Record<string, string>) : { token: TOKEN },
    session: Object.fromEntries(kept),
    camera,
    hurried,
    update,
    push,
  }
  const said = { ...(await usual()), ...answers }
  const socket = await raise(page, phone, said, endsOf(said))
  if (lost) await page.route(lost, (route) => route.abort())
  if (held) await page.route(held, () => undefined)
  await page.goto(path)
  await expect(page.locator('main')).toBeAttached()
  await act?.(page, socket, said)
  await expect(page.getByText(shows).filter({ visible: true }).first()).toBeVisible()
  await atRest(page)
}

/** Its font and pictures are there, and nothing moves any more. */
async function atRest(page: Page): Promise<void> {
  await page.evaluate(async () => {
    await document.fonts.ready
    // Some of a screen comes when the phone has nothing better to do.
    await new Promise((idle) => requestIdleCallback(idle))
    const seen = [...document.images].filter((image) => image.checkVisibility())
    await Promise.all(seen.map((image) => image.decode().catch(() => undefined)))
  })
  await still(page)
}
