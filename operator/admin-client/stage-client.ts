import { AdminError } from '../../layers/admin/api/admin-error.ts'
import { type AdminAnswer, adminRequestId, type Identity, requireScope } from '../../layers/admin/api/call.ts'
import { type Report, refusalFor, refused } from '../../layers/admin/api/handle.ts'
import { readJson } from '../../layers/admin/api/read-json.ts'
import { ADMIN_ROOT, findAdminRoute } from '../../layers/admin/api/route-table.ts'
import type { WhoAmI } from '../../layers/admin/api/shapes/answers.ts'
import type { AuditLine } from '../../layers/admin/api/shapes/books.ts'
import type { KeyShape } from '../../layers/admin/api/shapes/keys.ts'
import { isoTime } from '../../layers/gateway/domain/time.ts'
import type { LastAudit } from '../../layers/gateway/store/keys/last-audit.ts'
import { CliError } from '../terminal/cli-error.ts'
import type { AdminAsk, AdminClient } from './admin-client.ts'
import { ask } from './ask.ts'
import { Refusal } from './refusal.ts'

type Parts = {
  readonly signed: AdminClient
  /** The admin API in this process, for routes that no function serves. */
  readonly here: AdminClient
  /** The scopes of this console. AWS decides about the caller's own rights. */
  readonly scopes: Identity['scopes']
  readonly remember: (audit: LastAudit) => Promise<void>
  readonly report: Report
  readonly clock: () => number
}

/** The admin API of a stage that serves it. A call that is not allowed here is not sent. */
export function stageClient({ signed, here, scopes, remember, report, clock }: Parts): AdminClient {
  return async (asked) => {
    try {
      return await answerTo(asked)
    } catch (error) {
      if (error instanceof Refusal) return error.answer
      const requestId = adminRequestId(clock())
      const refusal = error instanceof CliError ? new AdminError('conflict', error.message) : refusalFor(error)
      if (refusal.status === 500) report(requestId, error)
      return refused(requestId, refusal)
    }
  }

  async function answerTo(asked: AdminAsk): Promise<AdminAnswer> {
    const { method, path } = asked
    const { route } = findAdminRoute(method, path)
    if (route.scope !== undefined) requireScope({ scopes }, route.scope)
    const body = method === 'GET' ? {} : readJson(asked, route)
    const place = path.slice(ADMIN_ROOT.length)
    if (place === '/routes/test') return here(asked)
    if (place === '/audits' && Object.keys(body).length === 0) return auditOfAll()
    const answer = await signed(asked)
    return place === '/whoami' && answer.status === 200 ? narrowed(answer) : answer
  }

  /** A page offers only the actions that its own console allows. */
  function narrowed(answer: AdminAnswer): AdminAnswer {
    const identity = JSON.parse(String(answer.body)) as WhoAmI
    const both = identity.scopes.filter((scope) => (scopes as readonly string[]).includes(scope))
    return { ...answer, body: JSON.stringify({ ...identity, scopes: both } satisfies WhoAmI) }
  }

  /** A refusal of the first call is the answer. A later one breaks the answer off, and is reported in the terminal. */
  async function auditOfAll(): Promise<AdminAnswer> {
    const lines = auditOneByOne(signed, clock)
    const first = await lines.next()
    return {
      status: 200,
      headers: {
        'Content-Type': 'application/x-ndjson',
        'X-Request-Id': adminRequestId(clock()),
        'Cache-Control': 'no-store',
      },
      body: written(first, lines),
    }
  }

  async function* written(first: IteratorResult<AuditLine>, rest: AsyncGenerator<AuditLine>): AsyncGenerator<string> {
    try {
      for (let next = first; !next.done; next = await rest.next()) {
        const line = next.value
        if (line.object === 'audit.summary') {
          await remember({ atMs: Date.parse(line.at), keys: line.keys, wrong: line.wrong })
        }
        yield `${JSON.stringify(line)}\n`
      }
    } catch (error) {
      report(adminRequestId(clock()), new CliError(`The audit broke off: ${(error as Error).message}`))
      throw error
    }
  }
}

/** The lines of an audit of all keys, from an admin API that audits one at a time. Throws a Refusal. */
async function* auditOneByOne(client: AdminClient, clock: () => number): AsyncGenerator<AuditLine> {
  const api = ask(client, { isHere: false })
  let [keys, wrong] = [0, 0]
  const { data } = await api.list<KeyShape>('/keys')
  for (const { id } of data) {
    for await (const line of api.lines<AuditLine>('/audits', { key_id: id })) {
      if (line.object !== 'audit') continue
      keys += 1
      if (!line.ok) wrong += 1
      yield line
    }
  }
  yield { object: 'audit.summary', keys, wrong, at: isoTime(clock()) }
}
