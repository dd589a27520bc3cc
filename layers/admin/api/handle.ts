import { hash, randomBytes } from 'node:crypto'
import { ACT_MS, newAct, timeLeft } from '../../gateway/domain/keys/act.ts'
import { isUnavailable } from '../../gateway/platform/aws/service-error.ts'
import { OverAllowance } from '../../gateway/store/admin-keys/allowance.ts'
import { NewerSchema, readCatalogHead } from '../../gateway/store/catalog/read-catalog.ts'
import { WriteOutcomeUnknown, wasTransactionRejected } from '../../gateway/store/dynamodb/transact.ts'
import { VersionConflict } from '../../gateway/store/keys/change-key.ts'
import { AdminError } from './admin-error.ts'
import {
  type AdminAnswer,
  type Administered,
  type AdminRequest,
  adminRequestId,
  type Call,
  Lines,
  requireScope,
} from './call.ts'
import { queryFields, readFields, readJson } from './fields.ts'
import { versionTag } from './preconditions.ts'
import { findAdminRoute } from './route-table.ts'
import { nothing } from './shapes/bodies.ts'

export type Report = (requestId: string, error: unknown) => void

/** The admin API of one gateway: returns every answer, refusals too, and never throws. */
export function adminApi(administered: Administered, report: Report) {
  const { random = randomBytes, actMs = ACT_MS, clock } = administered
  return async (request: AdminRequest): Promise<AdminAnswer> => {
    const nowMs = clock()
    const leftMs = timeLeft(actMs, clock)
    const requestId = adminRequestId(nowMs, random)
    try {
      return await answerTo(request, requestId, nowMs, leftMs)
    } catch (error) {
      const refusal = refusalFor(error)
      if (refusal.status === 500) report(requestId, error)
      return refused(requestId, refusal)
    }
  }

  async function answerTo(request: AdminRequest, requestId: string, nowMs: number, leftMs: () => number) {
    const { method, path, query, headers, identity } = request
    const { route, parameters } = findAdminRoute(method, path)
    const { status, scope, handle } = route
    if (scope !== undefined) requireScope(identity, scope)
    const isGet = method === 'GET'
    const asked = queryFields(query)
    if (!isGet) readFields(nothing, asked)
    const sent = isGet ? asked : readJson(request, route)
    const call: Call = {
      ...administered,
      identity,
      headers,
      path: parameters,
      digest: hash('sha256', JSON.stringify([method, path, isGet ? {} : sent], sorted)),
      nowMs,
      random,
      newAct: async () => newAct(await identity.by(), nowMs, random(10), leftMs),
      warnings: [],
    }
    // Tables of a newer schema are refused.
    await readCatalogHead(administered.tables)()
    const body = await handle(call, sent)
    const common = commonHeaders(requestId)
    if (body instanceof Lines) return { status, headers: { ...common, ...body.headers }, body: body.lines }
    const tag = 'version' in body ? versionTag(body.version as number) : {}
    const { warnings } = call
    return jsonAnswer(status, { ...common, ...tag }, warnings.length > 0 ? { ...body, warnings } : body)
  }
}

function commonHeaders(requestId: string) {
  return { 'X-Request-Id': requestId, 'Cache-Control': 'no-store' }
}

type WholeAnswer = AdminAnswer & { readonly body: string }

export function refused(requestId: string, { status, headers, envelope }: AdminError): WholeAnswer {
  return jsonAnswer(status, { ...commonHeaders(requestId), ...headers }, envelope)
}

function jsonAnswer(status: number, headers: AdminAnswer['headers'], body: object): WholeAnswer {
  return { status, headers: { ...headers, 'Content-Type': 'application/json' }, body: JSON.stringify(body) }
}

const AGAIN = 'Ask again, with the same Idempotency-Key if you sent one.'
const NO_DATABASE =
  'The database did not answer. If this was a change, it may have been made all the same. Ask again with the same Idempotency-Key, or look.'
const UNEXPECTED =
  'The admin API met an unexpected problem. It was written down where it runs, with the X-Request-Id of this answer.'

export function refusalFor(error: unknown): AdminError {
  if (error instanceof AdminError) return error
  const { message } = error as Error
  if (error instanceof VersionConflict) return new AdminError('conflict', message)
  if (error instanceof OverAllowance) {
    const what = `${message} Nothing was granted. Ask again tomorrow, or ask the operator.`
    return new AdminError('daily_grant_exceeded', what)
  }
  if (error instanceof WriteOutcomeUnknown) return new AdminError('outcome_unknown', `${message} ${AGAIN}`)
  if (error instanceof NewerSchema) return new AdminError('service_unavailable', message)
  if (wasTransactionRejected(error)) {
    const what = `Too many changes met at one moment, and this one was not made. ${AGAIN}`
    return new AdminError('service_unavailable', what)
  }
  if (isUnavailable(error)) return new AdminError('service_unavailable', NO_DATABASE)
  return new AdminError('internal_error', UNEXPECTED, {}, { cause: error })
}

/** A digest is the same for the same content, in any order of its fields. */
function sorted(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}
