import type { ApiError } from '../layers/admin/api/shapes/answers.ts'
import { parseJson, readJson } from './read-json.ts'
import { endSession, sessionToken } from './session.ts'

/** No usable answer: it was refused by the server, or lost on the way (status 0). */
export class ApiFailure extends Error {
  readonly status: number
  readonly code: string | null
  readonly param: string | null
  readonly requestId: string | null

  constructor(
    message: string,
    status: number,
    details: Partial<Pick<ApiFailure, 'code' | 'param' | 'requestId'>> = {},
  ) {
    super(message)
    this.status = status
    this.code = details.code ?? null
    this.param = details.param ?? null
    this.requestId = details.requestId ?? null
  }

  /** True if the change may have been made all the same. */
  get isOutcomeUnknown(): boolean {
    return this.status === 0 || this.status >= 500
  }
}

export type Sent = {
  readonly method?: 'POST' | 'PUT' | 'PATCH'
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal | undefined
}

/** The path is below /admin/v1. */
export async function ask<T>(path: string, sent: Sent = {}): Promise<T> {
  const response = await request(`/admin/v1${path}`, sent)
  return whole(readJson<T>(response))
}

/** Sent twice with the same Idempotency-Key, it is done once. */
export function post<T>(path: string, idempotencyKey: string, body?: unknown): Promise<T> {
  return ask<T>(path, { method: 'POST', body, headers: { 'Idempotency-Key': idempotencyKey } })
}

export function keyPath(id: string): string {
  return `/keys/${encodeURIComponent(id)}`
}

export async function askCsv(path: string): Promise<Blob> {
  const response = await request(`/admin/v1${path}`, { headers: { Accept: 'text/csv' } })
  return whole(response.blob())
}

export async function* askLines<T>(path: string, sent: Sent): AsyncGenerator<T, void, undefined> {
  const response = await request(`/admin/v1${path}`, sent)
  for await (const line of textLines(response)) if (line) yield parseJson<T>(line)
}

export async function request(path: string, { method, body, headers, signal }: Sent = {}): Promise<Response> {
  const response = await whole(
    fetch(path, {
      method: method ?? 'GET',
      headers: {
        'X-Waybill-Console': sessionToken() ?? '',
        ...(method && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(method && { body: JSON.stringify(body ?? {}) }),
      ...(signal && { signal }),
      cache: 'no-store',
    }),
  )
  if (response.ok) return response
  const failure = await failureOf(response)
  // The gateway may also refuse the playground's key, which does not end this session.
  if (failure.code === 'invalid_console_token') endSession()
  throw failure
}

export async function* textLines({ body }: Response): AsyncGenerator<string, void, undefined> {
  if (!body) return
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (;;) {
    const { done, value } = await whole(reader.read())
    if (done) break
    const lines = (rest + value).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
  if (rest) yield rest
}

async function failureOf(response: Response): Promise<ApiFailure> {
  const requestId = response.headers.get('X-Request-Id')
  const told = await readJson<Partial<ApiError>>(response).catch(() => undefined)
  const { message = `The server answered ${response.status}.`, code = null, param = null } = told?.error ?? {}
  return new ApiFailure(message, response.status, { code, param, requestId })
}

/** A connection that breaks is a failure; an abort on purpose is not. */
async function whole<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (error) {
    if ((error as Error).name === 'AbortError') throw error
    throw new ApiFailure('No answer came: is the console still running?', 0)
  }
}

export function isAbort(error: unknown): boolean {
  return (error as Error).name === 'AbortError'
}

export function failureFrom(error: unknown): ApiFailure {
  return error instanceof ApiFailure ? error : new ApiFailure(String((error as Error).message ?? error), -1)
}
