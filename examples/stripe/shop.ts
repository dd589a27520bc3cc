import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type Answer, type Ask, codeOf } from './admin-api.ts'
import { type Charge, isCustomer } from './charge.ts'
import { isSessionId, type Purchase, readPurchase } from './purchase.ts'
import { isFromStripe, isFromWaybill } from './signatures.ts'

export type ShopParts = {
  readonly ask: Ask
  readonly stripeSecret: string
  readonly noticeSecret: string
  /** A payment link of Stripe's, at which customers pay. */
  readonly paymentLink: string
  /** Charges the saved card of a customer for a notice; without it, customers only get mail. */
  readonly charge?: Charge | undefined
  readonly mail: (to: string, text: string) => Promise<void>
  readonly log: (line: string) => void
  readonly clock: () => number
}

type Notice = { readonly id?: unknown; readonly type?: unknown; readonly data?: Record<string, unknown> | null }
type Act = (body: Buffer, request: IncomingMessage) => Promise<Page>

const MOST_BYTES = 256 * 1024
/** Anybody may ask for the page, and each call asks the gateway. */
const MOST_PAGES_AT_ONCE = 5
const NOTIFY_BELOW = '1'
const SHOWN_FOR_MS = 24 * 60 * 60 * 1000
const MOST_NOTICES_KEPT = 1000
const NOT_SIGNED: Page = { status: 400, text: 'The signature is not valid.' }
const WAS_SHOWN = textPage(410, 'This key was shown already. If you have lost it, write to us.')

/** Sells credits. It keeps nothing: the gateway knows which sessions were granted and which keys were shown. */
export function createShop(parts: ShopParts): Server {
  const { ask, log, clock } = parts
  const noticesSeen = new Set<unknown>()
  let pagesOpen = 0
  const acts: Readonly<Record<string, Act>> = { '/stripe': stripe, '/notices': notices, '/welcome': welcome }
  return createServer({ requestTimeout: 10_000 }, (request, response) => {
    answer(request)
      .catch((error: Error) => {
        log(`failed: ${error.message}`)
        return { status: 503, text: 'Try again later.' }
      })
      .then((reply) => send(response, reply))
  })

  async function answer(request: IncomingMessage): Promise<Page> {
    const { pathname, searchParams } = URL.parse(request.url ?? '/', 'http://shop') ?? new URL('http://shop')
    if (request.method === 'GET' && pathname === '/welcome') return afterPaying(searchParams.get('session_id') ?? '')
    const act = request.method === 'POST' ? acts[pathname] : undefined
    if (!act) return { status: 404, text: 'There is nothing here.' }
    const body = await readBody(request)
    return body ? act(body, request) : { status: 413, text: 'The body is too large.' }
  }

  /** Stripe repeats an event for three days unless the status is a 2xx. */
  async function stripe(body: Buffer, { headers }: IncomingMessage): Promise<Page> {
    if (!isFromStripe(headers['stripe-signature'], body, parts.stripeSecret, clock())) return NOT_SIGNED
    const read = readPurchase(jsonOf(body))
    if ('ignored' in read) return { status: 200, text: `Ignored: ${read.ignored}.` }
    if ('refused' in read) return refused(read.refused)
    return grant(read.purchase)
  }

  async function grant({ session, credits, ownerId, email }: Purchase): Promise<Page> {
    const granted = { credits, reference: session }
    const made = { ...granted, name: email, external_id: session, notify_below: NOTIFY_BELOW }
    const path = ownerId?.startsWith('acct_') ? 'accounts' : 'keys'
    const answered = ownerId
      ? await ask('POST', `/${path}/${ownerId}/grants`, granted, session)
      : await ask('POST', '/keys', made, session)
    if (answered.status === 201 || (await wasGranted(answered, session))) return { status: 200, text: 'Granted.' }
    const why = `${session}: ${answered.status} ${codeOf(answered)}`
    if (isForLater(answered)) throw new Error(why)
    return refused(why)
  }

  /** Also if the Idempotency-Key was forgotten meanwhile, or another event of the session has another address of mail. */
  async function wasGranted(answered: Answer, session: string): Promise<boolean> {
    if (codeOf(answered) === 'reference_used') return true
    return [409, 422].includes(answered.status) && (await keyOf(session)) !== undefined
  }

  function refused(why: string): Page {
    log(`refused: ${why}`)
    return { status: 422, text: 'This purchase needs a person.' }
  }

  /** The key that this session has made. One that it has topped up is another customer's for all we know. */
  async function keyOf(session: string): Promise<Record<string, unknown> | undefined> {
    const { status, body } = await ask('GET', `/keys?external_id=${session}`)
    if (status !== 200) throw new Error(`keys: ${status}`)
    return (body.data as Record<string, unknown>[])[0]
  }

  async function welcome(body: Buffer): Promise<Page> {
    if (pagesOpen >= MOST_PAGES_AT_ONCE) return textPage(503, 'Many customers are here. Try again in a minute.')
    pagesOpen += 1
    try {
      return await showOnce(new URLSearchParams(body.toString()).get('session_id'))
    } finally {
      pagesOpen -= 1
    }
  }

  /** The secret that the key was made with was shown to nobody. The gateway rotates it once for a session, and tells once. */
  async function showOnce(session: unknown): Promise<Page> {
    const key = isSessionId(session) ? await keyOf(session) : undefined
    if (!key) return textPage(404, 'There is no new key yet. If you have just paid, try again in a minute.')
    if (clock() - Date.parse(String(key.created_at)) > SHOWN_FOR_MS) return WAS_SHOWN
    const { status, body } = await ask('POST', `/keys/${key.id}/rotate`, { grace_seconds: 0 }, `show-${session}`)
    if (status !== 200) throw new Error(`rotate: ${status}`)
    return typeof body.secret === 'string' ? secretPage(body.secret) : WAS_SHOWN
  }

  async function notices(body: Buffer, { headers }: IncomingMessage): Promise<Page> {
    if (!isFromWaybill(headers, body, parts.noticeSecret, clock())) return NOT_SIGNED
    const { id, type, data } = (jsonOf(body) ?? {}) as Notice
    if (parts.charge && data && String(type).endsWith('.balance_low') && isCustomer(data.external_id)) {
      const owner = String(data.account_id ?? data.key_id)
      const outcome = await parts.charge({ id: String(id), customer: data.external_id, owner })
      log(`notice ${id} of ${owner}: ${outcome}`)
      return { status: 200, text: outcome }
    }
    const isForMoney = type === 'key.balance_low' || type === 'key.credit_balance_exhausted'
    if (!data || !isSessionId(data.external_id) || !isForMoney || noticesSeen.has(id))
      return { status: 200, text: 'Ignored.' }
    const link = `${parts.paymentLink}?client_reference_id=${data.key_id}`
    await parts.mail(String(data.key_name), `You have ${data.balance} credits left. Top up your key: ${link}`)
    if (noticesSeen.size >= MOST_NOTICES_KEPT) noticesSeen.clear()
    noticesSeen.add(id)
    return { status: 200, text: 'Told.' }
  }
}

/** The gateway is away or busy, or the admin key has granted all that it may on this day. */
function isForLater(answered: Answer): boolean {
  return answered.status >= 500 || answered.status === 429 || codeOf(answered) === 'daily_grant_exceeded'
}

/** V8 quotes the text in its error, which would be logged. */
function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString())
  } catch {
    return undefined
  }
}

/** Undefined if it is larger than any event. The rest is not awaited. */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    size += chunk.length
    if (size > MOST_BYTES) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function send(response: ServerResponse, { status, text, type = 'text/plain' }: Page): void {
  response.writeHead(status, {
    'Content-Type': `${type}; charset=utf-8`,
    'Cache-Control': 'no-store',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    ...(status === 413 && { Connection: 'close' }),
  })
  response.end(text)
}

export type Page = { readonly status: number; readonly text: string; readonly type?: string }

/** Stripe sends customers here. A form, because a preview of the link would use up the only showing. */
export function afterPaying(session: string): Page {
  const id = /^cs_\w{1,120}$/.test(session) ? session : ''
  const form = `<form method="post" action="/welcome"><input type="hidden" name="session_id" value="${id}"><button>Show my key, once</button></form>`
  return html(200, `<p>Thank you.</p>${form}`)
}

/** The secret has letters, digits and underscores only. */
export function secretPage(secret: string): Page {
  return html(200, `<p>This is your key. Keep it now: it is shown only once.</p><pre>${secret}</pre>`)
}

export function textPage(status: number, text: string): Page {
  return html(status, `<p>${text}</p>`)
}

function html(status: number, body: string): Page {
  return { status, type: 'text/html', text: `<!doctype html><meta charset="utf-8"><title>Credits</title>${body}\n` }
}
