import type { AuditLine, KeyShape, List } from '../admin-api/shapes.ts'
import type { AdminClient } from './admin-client.ts'
import { askJson, askText } from './ask-json.ts'

/** The most that a page of a list has. */
const PAGE = 100

/** The lines of an audit of all keys, from an admin API that audits one at a time. Throws Refused. */
export async function* auditOneByOne(client: AdminClient, clock: () => number): AsyncGenerator<AuditLine> {
  let [keys, wrong] = [0, 0]
  for await (const { id } of keysOf(client)) {
    const [line] = (await askText(client, '/audits', { body: { key_id: id } })).split('\n', 1)
    const audit = JSON.parse(line ?? '') as AuditLine
    keys += 1
    if (audit.object === 'audit' && !audit.ok) wrong += 1
    yield audit
  }
  yield { object: 'audit.summary', keys, wrong, at: new Date(clock()).toISOString() }
}

async function* keysOf(client: AdminClient): AsyncGenerator<KeyShape> {
  let after = ''
  for (;;) {
    const page: List<KeyShape> = await askJson(client, `/keys?limit=${PAGE}${after}`)
    yield* page.data
    if (!page.has_more || page.last_id === null) return
    after = `&after=${encodeURIComponent(page.last_id)}`
  }
}
