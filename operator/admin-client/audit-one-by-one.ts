import type { AuditLine } from '../../layers/admin/api/shapes/books.ts'
import type { KeyShape } from '../../layers/admin/api/shapes/keys.ts'
import { isoTime } from '../../layers/gateway/domain/time.ts'
import type { AdminClient } from './admin-client.ts'
import { ask } from './ask.ts'

/** The lines of an audit of all keys, from an admin API that audits one at a time. Throws a Refusal. */
export async function* auditOneByOne(client: AdminClient, clock: () => number): AsyncGenerator<AuditLine> {
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
