import type { ApiError } from '../layers/admin/api/shapes/answers.ts'
import { parseJson, readJson } from './read-json.ts'
import { placeOf } from './router.ts'

export type Server = {
  readonly base: string
  readonly headers: () => Readonly<Record<string, string>>
  readonly lost: string
  readonly onFailure?: (failure: ApiFailure) => void
  readonly wordsOf?: (message: string, response: Response) => string
}

let server: Server

export function connect(to: Server): void {
  server = to
}

/** No usable answer: it was refused by the server, or lost on the way (status 0). */
export class ApiFailure extends Error {
  readonly status: number
  readonly code: string | null = null
  readonly param: string | null = null
  readonly requestId: string | null = null

  constructor(message: string, status: number, details?: Partial<Pick<ApiFailure, 'code' | 'param' | 'requestId'>>) {
    super(message)
    this.status = status
    Object.assign(this, details)
  }

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

export async function ask<T>(path: string, sent?: Sent): Promise<T> {
  return whole(readJson<T>(await request(server.base + path, sent)))
}

/** Sent twice with the same Idempotency-Key, it is done once. */
export function post<T>(path: string, idempotencyKey: string, body?: unknown): Promise<T> {
  return ask<T>(path, { method: 'POST', body, headers: { 'Idempotency-Key': idempotencyKey } })
}

/** Asked by the open dialog, before it did something that may be a mistake: to submit again is the answer. */
export const questions = { asked: undefined as Set<string> | undefined }

export const NEEDS_ANSWER = 'needs_confirmation'
const JSON_TYPE = { 'Content-Type': 'application/json' }
const STRICT = { Prefer: 'handling=strict' }

export function pathOf(id: string): string {
  return `/${placeOf(id).map(encodeURIComponent).join('/')}`
}

export async function askFile(path: string, Accept = 'text/csv'): Promise<Blob> {
  return whole((await request(server.base + path, { headers: { Accept } })).blob())
}

/** The lines of an answer as they come, each with its end. */
export async function askText(path: string, accept: string, signal: AbortSignal): Promise<AsyncIterable<string>> {
  return textLines(await request(server.base + path, { headers: { Accept: accept }, signal }), '\n')
}

export async function* askLines<T>(path: string, sent: Sent): AsyncGenerator<T, void, undefined> {
  for await (const line of textLines(await request(server.base + path, sent))) if (line) yield parseJson<T>(line)
}

export async function request(path: string, sent: Sent = {}): Promise<Response> {
  const { method, body, headers, signal } = sent
  const response = await whole(
    fetch(path, {
      method: method ?? 'GET',
      headers: { ...server.headers(), ...(method && JSON_TYPE), ...(questions.asked && STRICT), ...headers },
      ...(method && { body: JSON.stringify(body ?? {}) }),
      ...(signal && { signal }),
      cache: 'no-store',
      credentials: 'omit',
    }),
  )
  if (response.ok) return response
  const failure = await failureOf(response)
  if (failure.code === NEEDS_ANSWER) {
    if (questions.asked?.has(failure.message)) return request(path, { ...sent, headers: { ...headers, Prefer: '' } })
    questions.asked?.add(failure.message)
  }
  server.onFailure?.(failure)
  throw failure
}

export async function* textLines({ body }: Response, end = ''): AsyncGenerator<string, void, undefined> {
  if (!body) return
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (;;) {
    const { done, value } = await whole(reader.read())
    if (done) break
    const lines = (rest + value).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) yield line + end
  }
  if (rest) yield rest + end
}

async function failureOf(response: Response): Promise<ApiFailure> {
  const requestId = response.headers.get('X-Request-Id')
  const told = await readJson<Partial<ApiError>>(response).catch(() => undefined)
  const { message = `The server answered ${response.status}.`, ...details } = told?.error ?? {}
  return new ApiFailure(server.wordsOf?.(message, response) ?? message, response.status, { ...details, requestId })
}

/** A connection that breaks is a failure; an abort on purpose is not. */
async function whole<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (error) {
    if (isAbort(error)) throw error
    throw new ApiFailure(server.lost, 0)
  }
}

/** The API calls a field by its own name, and people by its label. */
export function refusalText({ message, param }: ApiFailure, label = param?.replaceAll('_', ' ')): string {
  return message.replace(`'${param}'`, label ?? '')
}

export function isAbort(error: unknown): boolean {
  return (error as Error).name === 'AbortError'
}

export function failureFrom(error: unknown): ApiFailure {
  return error instanceof ApiFailure ? error : new ApiFailure(String((error as Error).message ?? error), -1)
}
