import { marshall, unmarshall } from '@aws-sdk/util-dynamodb'
import { beforeEach, expect, test } from '@jest/globals'
import type { Demand } from '../../layers/gateway/domain/admission/admission.ts'
import type { Key } from '../../layers/gateway/domain/keys/key.ts'
import { releaseHold } from '../../layers/gateway/store/admission/release-hold.ts'
import { takeAdmission } from '../../layers/gateway/store/admission/take-admission.ts'
import { fromAttributes, writeAttributes } from '../../layers/gateway/store/dynamodb/attribute-values.ts'
import type { Item } from '../../layers/gateway/store/dynamodb/database.ts'
import { readKey } from '../../layers/gateway/store/keys/read-key.ts'
import { randomAttributes } from '../local/dynamodb/random-expressions.ts'
import { Random } from '../simulation/random.ts'
import type { Treatment } from '../support/unreliable-dynamodb.ts'
import { demandAt, fresh, issue, NOW, openLine } from './support/store.ts'

const { line, far } = await openLine()
let key: Key
let demand: Demand
/** Every call that arrived. */
let arrived: string[]

beforeEach(async () => {
  key = await issue({}, { credits: 1_000n })
  demand = demandAt(key, NOW, { hold: 100n })
  treatEach('answer')
})

/** The first calls are treated like this; all that follow, as the last one. */
function treatEach(...treatments: Treatment[]): void {
  arrived = []
  line.treat = (operation) => {
    arrived.push(operation)
    return treatments[Math.min(arrived.length, treatments.length) - 1] as Treatment
  }
}

test.each<Treatment>(['cut off', 'lose the answer', 'throttle', 'fail'])(
  'a read is sent three times at most (%s)',
  async (treatment) => {
    treatEach(treatment, treatment, 'answer')
    expect(await readKey(far)(key.id)).toEqual(key)
    treatEach(treatment)
    await expect(readKey(far)(key.id)).rejects.toThrow()
    expect(arrived).toEqual(['GetItem', 'GetItem', 'GetItem'])
  },
)

test('a read over a kept connection that was closed meanwhile is sent again', async () => {
  await readKey(far)(key.id)
  line.hangUp()
  expect(await readKey(far)(key.id)).toEqual(key)
})

test.each<[Treatment, boolean | 'unknown', string[]]>([
  ['cut off', 'unknown', ['UpdateItem', 'GetItem']],
  ['lose the answer', true, ['UpdateItem', 'GetItem']],
  ['fail', true, ['UpdateItem', 'GetItem']],
  ['throttle', true, ['UpdateItem', 'UpdateItem']],
  ['conflict', true, ['UpdateItem', 'UpdateItem']],
])('an admission is sent once unless the database turned it away (%s)', async (met, admitted, calls) => {
  treatEach(met, 'answer')
  expect((await takeAdmission(far)(key, demand)).admitted).toBe(admitted)
  expect(arrived).toEqual(calls)
  expect((await fresh(key)).available).toBe(admitted === true ? 900n : 1_000n)
})

test('an admission over a kept connection that was closed meanwhile is unknown: it is looked for and not sent again', async () => {
  await readKey(far)(key.id)
  treatEach('answer')
  line.hangUp()
  expect((await takeAdmission(far)(key, demand)).admitted).toBe('unknown')
  expect(arrived).toEqual(['GetItem'])
  expect(await fresh(key)).toMatchObject({ available: 1_000n, holds: {} })
})

test('a refused admission returns the stored key', async () => {
  await takeAdmission(far)(key, demand)
  const refused = await takeAdmission(far)(key, { ...demand, hold: 5_000n })
  expect(refused).toMatchObject({ admitted: false, why: 'credit_balance_exhausted', key: { available: 900n } })
})

test.each<[Treatment, boolean]>([
  ['cut off', true],
  ['throttle', true],
  // The first write had landed, so the second finds nothing to release.
  ['lose the answer', false],
  ['fail', false],
])('a settlement is sent again and moves the money once (%s)', async (met, isTold) => {
  await takeAdmission(far)(key, demand)
  treatEach(met, 'answer')
  const hold = { amount: 100n, untilMs: demand.holdUntilMs }
  const release = { address: key.address, requestId: demand.requestId, hold, cost: 40n }
  expect(await releaseHold(far)(release)).toBe(isTold)
  expect(arrived).toEqual(['UpdateItem', 'UpdateItem'])
  expect(await fresh(key)).toMatchObject({ available: 960n, spent: 40n, holds: {} })
})

test('values of every kind are written and read as the AWS SDK does it', () => {
  const random = new Random(1)
  const every = {
    floats: [0.1, -1.5e-7, 1e21 / 10 ** 6, -0],
    nothing: null,
    deep: { a: [{ b: [[]] }, {}] },
    signs: ['', '"', '\\', '\n', '\0', '\x7f', '\u2028', 'é', '\u{1F600}', '\ud800', 'a\\"b'],
    'a "name" \\ of signs\n': 'x',
  }
  const items: Item[] = [every, ...Array.from({ length: 300 }, () => randomAttributes(random))]
  for (const item of items) {
    const written = JSON.parse(writeAttributes(item))
    const bySdk = marshall(item, { removeUndefinedValues: true })
    expect(written).toEqual(withBytesAsText(bySdk))
    expect(fromAttributes(written)).toEqual(unmarshall(bySdk))
  }
})

test.each([
  ...[Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, -(2 ** 53)],
  ...[new Date(0), new Set(['a']), new Set(), new Map(), Symbol('a'), () => 1],
])('a value that DynamoDB cannot keep exactly is refused before it is sent: %p', (value) => {
  expect(() => writeAttributes({ value })).toThrow()
  expect(() => writeAttributes({ list: [{ value }] })).toThrow()
})

test('an attribute of a type that the gateway does not write is an error', () => {
  expect(() => fromAttributes({ set: { SS: ['a'] } })).toThrow('SS')
})

/** As the SDK writes them on the way, after it has marshalled the rest. */
function withBytesAsText(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
  if (Array.isArray(value)) return value.map(withBytesAsText)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withBytesAsText(member)]))
}
