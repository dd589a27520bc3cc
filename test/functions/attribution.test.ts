import { expect, test } from '@jest/globals'
import { attributionOf } from '../../layers/gateway/domain/rows/attribution.ts'
import type { UsageRow } from '../../layers/gateway/domain/rows/usage-row.ts'
import { type ContractName, HTTP_ROUTES } from '../../layers/gateway/endpoints.ts'
import { toUsageItem } from '../../layers/gateway/store/rows/usage-item.ts'
import { adminOf } from '../admin-api/support/admin.ts'
import { embeddingCatalog } from '../support/embeddings.ts'
import { FULL_ROW } from '../support/full-row.ts'
import { HELLO } from '../support/gateway.ts'
import { openFor, openUpstream } from '../support/stack.ts'
import { say } from '../support/upstream.ts'

const upstream = await openUpstream()
const catalog = embeddingCatalog([upstream.url])
const gateway = await openFor(catalog)
const silent = await openFor(catalog, { onSameTables: gateway, isUnattributed: true })

const issue = (credits?: string) =>
  gateway.issue({ scopes: ['chat.completions', 'embeddings'], ...(credits && { credits }) })

/** The row of a request, which may have been refused. */
async function rowOf(secret: string, path: string, body: object, at = gateway): Promise<UsageRow> {
  return (await at.ask(body, { secret, path })).row
}

const METADATA = { team: 'search', 'cost-centre': 'Köln 7' }
/** A body of each contract that names a user, and the claims of its row. */
const BODIES: Readonly<Record<ContractName, readonly [object, Pick<UsageRow, 'user' | 'tags'>]>> = {
  chat: [
    { ...HELLO, user: 'ann', safety_identifier: 'other', metadata: METADATA },
    { user: 'ann', tags: METADATA },
  ],
  responses: [
    { model: 'test-model', input: 'Hello', safety_identifier: 'ann', metadata: METADATA },
    { user: 'ann', tags: METADATA },
  ],
  messages: [{ ...HELLO, max_tokens: 10, metadata: { user_id: 'ann' } }, { user: 'ann' }],
  completions: [{ model: 'test-model', prompt: 'Hello', user: 'ann' }, { user: 'ann' }],
  embeddings: [{ model: 'test-embedding', input: 'Hello', user: 'ann' }, { user: 'ann' }],
}

const PATHS = HTTP_ROUTES.flatMap(({ path, endpoint }) =>
  endpoint.contract ? [[path, endpoint.contract] as const] : [],
)

test.each(PATHS)(
  '%s keeps the user and the tags of a request as they came, and sends the same without them',
  async (path, contract) => {
    const { secret } = await issue()
    const [body, claims] = BODIES[contract]
    const { user, tags } = await rowOf(secret, path, body)
    expect({ user, tags }).toEqual(claims)
    const sent = upstream.requests.at(-1)?.body
    const unattributed = await rowOf(secret, path, body, silent)
    expect([unattributed.user, unattributed.tags]).toEqual([undefined, undefined])
    expect(upstream.requests.at(-1)?.body).toEqual(sent)
  },
)

test('a stream, an answer that is given again and a request that is refused for credits have them, too', async () => {
  const [rich, poor] = [await issue(), await issue('0.000000001')]
  const body = { ...HELLO, user: 'ann', metadata: { team: 'a' } }
  const claims = { user: 'ann', tags: { team: 'a' } }
  upstream.reply = say('Hello')
  expect(await rowOf(rich.secret, '/v1/chat/completions', { ...body, stream: true })).toMatchObject(claims)
  expect(await rowOf(poor.secret, '/v1/chat/completions', body)).toMatchObject({ httpStatus: 402, ...claims })
  for (const _ of [1, 2]) {
    const response = await gateway.post(rich.secret, body, { 'Idempotency-Key': 'one' })
    expect(await gateway.readRow(response.headers.get('x-request-id'))).toMatchObject(claims)
  }
})

test('the log has no word of them', () => {
  expect(gateway.logLines.length).toBeGreaterThan(5)
  expect(gateway.logLines.filter((line) => /"ann"|search|Köln/.test(line))).toEqual([])
})

const SECRET = `svc_live_${'a'.repeat(43)}`

test.each<[string, object, Pick<UsageRow, 'user' | 'tags'>]>([
  ['a user of 256 characters', { user: 'x'.repeat(256) }, { user: 'x'.repeat(256) }],
  ['a longer one', { user: 'x'.repeat(257), safety_identifier: 'short' }, { user: 'short' }],
  ['an empty user', { user: '', safety_identifier: 'other' }, { user: 'other' }],
  ['half of a pair of characters', { user: 'a\ud800' }, {}],
  [
    'a secret of the gateway',
    { user: SECRET, metadata: { [SECRET]: 'a', key: `Bearer ${SECRET}`, team: 'b' } },
    { tags: { team: 'b' } },
  ],
  ['a secret of a provider', { user: `sk-proj-${'a'.repeat(40)}` }, {}],
  ['an id that looks a little like one', { user: 'pk_00012345' }, { user: 'pk_00012345' }],
  ['values that are no texts', { metadata: { number: 7, yes: true, none: null, team: 'a' } }, { tags: { team: 'a' } }],
  [
    'a tag of 64 characters',
    { metadata: { ['n'.repeat(64)]: 'v'.repeat(64) } },
    { tags: { ['n'.repeat(64)]: 'v'.repeat(64) } },
  ],
  ['a longer name and a longer value', { metadata: { ['n'.repeat(65)]: 'v', n: 'v'.repeat(65) } }, {}],
  ['an empty name and an empty value', { metadata: { '': 'v', n: '' } }, {}],
  [
    'names of all objects',
    { metadata: { toString: 'a', constructor: 'b' } },
    { tags: { toString: 'a', constructor: 'b' } },
  ],
  ['metadata without fields', { metadata: {} }, {}],
])('a request with %s is answered, and its row has what can be kept', async (_, fields, claims) => {
  const { secret } = await issue()
  const row = await rowOf(secret, '/v1/chat/completions', { ...HELLO, ...fields })
  expect([row.httpStatus, { user: row.user, tags: row.tags }]).toEqual([200, { user: claims.user, tags: claims.tags }])
})

test('the first 8 tags are kept, and a row stays within what is promised', async () => {
  const { secret } = await issue()
  const metadata = Object.fromEntries(Array.from({ length: 16 }, (_, i) => [`tag${i}`, 'v']))
  const { tags } = await rowOf(secret, '/v1/chat/completions', { ...HELLO, metadata })
  expect(Object.keys(tags ?? {}).sort()).toEqual(Array.from({ length: 8 }, (_, i) => `tag${i}`))
  const largest = (sign: string) => {
    const fields = Array.from({ length: 8 }, (_, i) => [`${i}${sign.repeat(63)}`, sign.repeat(64)])
    return bytesOf(attributionOf({ user: sign.repeat(256), metadata: Object.fromEntries(fields) }, 'chat'))
  }
  expect([largest('a') <= 1_330, largest('語') <= 3_860]).toEqual([true, true])
  expect(bytesOf({ user: 'customer-000000000017', tags: { team: 'search' } })).toBeLessThan(50)
  expect(Object.keys(toUsageItem(FULL_ROW))).toEqual(expect.arrayContaining(['user', 'tags']))
})

/** As DynamoDB counts: names, texts, and 3 bytes of a map with 1 for each field. */
function bytesOf({ user = '', tags = {} }: Pick<UsageRow, 'user' | 'tags'>): number {
  const utf8 = (text: string) => Buffer.byteLength(text)
  const ofTags = Object.entries(tags).map(([name, value]) => utf8(name) + utf8(value) + 1)
  return utf8('user') + utf8(user) + utf8('tags') + 3 + ofTags.reduce((sum, one) => sum + one, 0)
}

test('what a provider refuses is refused as before: a user or metadata of another type', async () => {
  const { secret } = await issue()
  for (const fields of [{ user: 7 }, { user: {} }, { metadata: 'team' }, { metadata: { team: {} } }]) {
    expect((await gateway.post(secret, { ...HELLO, ...fields })).status).toBe(400)
  }
})

test('requests are found by user, by tag and by the value of a tag, in lists and in exports', async () => {
  const { key, secret } = await issue()
  const admin = adminOf(gateway.tables)
  const send = (user: string, metadata: object) => rowOf(secret, '/v1/chat/completions', { ...HELLO, user, metadata })
  const [one, two, odd] = [
    await send('ann', { team: 'a' }),
    await send('bob', { team: 'b' }),
    await send('=cmd()', { 'a=b': 'c', toString: 'x' }),
  ]
  const found = async (query: string) => {
    const { body } = await admin.call(`GET /requests?key_id=${key.id}&${query}`)
    return body.data.map(({ request_id }: { request_id: string }) => request_id).sort()
  }
  expect(await found('user=ann')).toEqual([one.requestId])
  expect(await found('tag=team')).toEqual([one.requestId, two.requestId])
  expect(await found('tag=team%3Db&user=bob')).toEqual([two.requestId])
  expect(await found('tag=a%3Db%3Dc')).toEqual([odd.requestId])
  expect([await found('tag=hasOwnProperty'), await found('tag=team%3Dc'), await found('user=Ann')]).toEqual([
    [],
    [],
    [],
  ])
  const sent = { headers: { accept: 'text/csv' } }
  const { text } = await admin.call(`GET /requests?key_id=${key.id}&tag=a%3Db`, sent)
  expect(text.trimEnd().split('\r\n')).toHaveLength(2)
  expect(text).toContain("'=cmd(),a=b=c; toString=x")
  const shown = await admin.call(`GET /requests/${one.requestId}`)
  expect(shown.body.row).toMatchObject({ user: 'ann', tags: { team: 'a' } })
  expect(shown.body.explanation).toContainEqual({ part: 'facts', name: 'user', lines: ['ann (as the caller says)'] })
  expect(await (await gateway.get(secret, `/v1/usage/${one.requestId}`)).json()).toMatchObject({
    user: 'ann',
    tags: { team: 'a' },
  })
})
