import type { AdminAnswer } from '../admin-api/call.ts'
import { ADMIN_ROOT } from '../admin-api/route-table.ts'
import type { ApiError } from '../admin-api/shapes.ts'
import type { AdminClient } from './admin-client.ts'

/** The admin API has refused what a program of ours asked for. */
export class Refused extends Error {
  override readonly name = 'Refused'
  readonly answer: AdminAnswer
  readonly code: string | null

  constructor(answer: AdminAnswer & { readonly body: string }) {
    const { error } = JSON.parse(answer.body) as ApiError
    super(error.message)
    this.answer = answer
    this.code = error.code
  }
}

type Sent = { readonly body: object; readonly idempotencyKey?: string }

/** What the admin API answers under a path: to a GET, or to a POST if something is sent. Throws Refused. */
export async function askText(client: AdminClient, path: string, sent?: Sent): Promise<string> {
  const { pathname, searchParams } = new URL(`${ADMIN_ROOT}${path}`, 'http://admin')
  const { status, headers, body } = await client({
    method: sent ? 'POST' : 'GET',
    path: pathname,
    query: searchParams,
    headers: {
      ...(sent && { 'content-type': 'application/json' }),
      ...(sent?.idempotencyKey && { 'idempotency-key': sent.idempotencyKey }),
    },
    body: Buffer.from(sent ? JSON.stringify(sent.body) : ''),
  })
  const text = typeof body === 'string' ? body : (await Array.fromAsync(body)).join('')
  if (status >= 400) throw new Refused({ status, headers, body: text })
  return text
}

export async function askJson<T>(client: AdminClient, path: string, sent?: Sent): Promise<T> {
  return JSON.parse(await askText(client, path, sent)) as T
}
