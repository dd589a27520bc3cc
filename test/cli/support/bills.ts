import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DAY_MS, isoTime, makeRequestId } from '../../../layers/gateway/domain/basics/time.ts'
import type { UsageRow } from '../../../layers/gateway/domain/rows/usage-row.ts'
import { completedRow } from '../../support/completed-row.ts'
import { openTestTables } from '../../support/gateway.ts'
import { usedKey } from '../../support/past-usage.ts'
import { emptyFolder } from '../../support/processes.ts'
import { openStage } from '../../support/stack.ts'

const TODAY_MS = Math.floor(Date.now() / DAY_MS) * DAY_MS

/** The first moment of a day that is over. */
export const dayMs = (daysAgo: number) => TODAY_MS - daysAgo * DAY_MS
export const day = (daysAgo: number) => isoTime(dayMs(daysAgo)).slice(0, 10)

const CREDIT = 1_000_000_000n

/** A row of an answer, at noon of a day. */
export function row(
  keyId: string,
  daysAgo: number,
  provider: string,
  model: string,
  more: Partial<UsageRow> = {},
): UsageRow {
  const startedAtMs = more.startedAtMs ?? dayMs(daysAgo) + DAY_MS / 2
  const requestId = makeRequestId(startedAtMs, randomBytes(10))
  const base = completedRow({ requestId, keyId, startedAtMs, cost: 2n * CREDIT, hold: 5n * CREDIT })
  return { ...base, model: 'ours', provider, upstreamModel: model, upstreamCost: CREDIT, priceVersion: 1, ...more }
}

const PROVIDERS = {
  openai: { type: 'openai', baseUrl: 'https://api.openai.com/v1' },
  anthropic: { type: 'anthropic', baseUrl: 'https://api.anthropic.com/v1' },
  openrouter: { type: 'openai', baseUrl: 'https://openrouter.ai/api/v1' },
  aws: { type: 'bedrock', region: 'us-east-1' },
}

export type Books = Awaited<ReturnType<typeof openBooks>>
/** Files by their names. */
export type Bills = Readonly<Record<string, object | string>>

/** A stage with these rows of one key. */
export async function openBooks(rows: (keyId: string) => UsageRow[]) {
  const tables = await openTestTables()
  const stage = await openStage(tables)
  const folder = emptyFolder()
  const catalog = join(folder, 'catalog.json')
  writeFileSync(catalog, JSON.stringify({ providers: PROVIDERS, models: [] }))
  await stage.waybill(['catalog', 'push', catalog, '--stage', 'dev'])
  await usedKey(tables, dayMs(20), rows)
  return {
    /** A text or bytes are written as they are. */
    async reconcile(provider: string, bills: Bills, ...args: readonly string[]) {
      const files = Object.entries(bills).flatMap(([name, bill]) => {
        const file = join(folder, name)
        writeFileSync(file, typeof bill === 'string' || Buffer.isBuffer(bill) ? bill : JSON.stringify(bill))
        return ['--bill', file]
      })
      const range = args.includes('--from') ? [] : ['--from', day(3), '--to', day(1)]
      return stage.waybill(['reconcile', '--provider', provider, ...files, ...range, ...args, '--stage', 'dev'])
    },
  }
}

export type Item = readonly [model: string | null, amount: number | string]

/** JavaScript has the names of an object that are numbers in rising order, which is the newest day first. */
function oldestFirst<T>(days: Readonly<Record<number, T>>): [daysAgo: string, items: T][] {
  return Object.entries(days).toReversed()
}

/** A page of OpenAI's costs: a list of items for each day. */
export function openAiPage(
  days: Readonly<Record<number, readonly Item[]>>,
  more: object = {},
  currency = 'usd',
): object {
  const data = oldestFirst(days).map(([daysAgo, items]) => ({
    object: 'bucket',
    start_time: dayMs(Number(daysAgo)) / 1000,
    end_time: dayMs(Number(daysAgo) - 1) / 1000,
    results: items.map(([line_item, value]) => ({
      object: 'organization.costs.result',
      amount: { value, currency },
      line_item,
      project_id: null,
    })),
  }))
  return { object: 'page', data, has_more: false, next_page: null, ...more }
}

/** A page of Anthropic's cost report, in cents. */
export function anthropicPage(days: Readonly<Record<number, readonly Item[]>>, zone = 'Z', currency = 'USD'): object {
  const at = (daysAgo: number) => `${day(daysAgo)}T00:00:00${zone}`
  const data = oldestFirst(days).map(([daysAgo, items]) => ({
    starting_at: at(Number(daysAgo)),
    ending_at: at(Number(daysAgo) - 1),
    results: items.map(([model, amount]) => ({ amount, currency, cost_type: 'tokens', model, description: null })),
  }))
  return { data, has_more: false, next_page: null }
}
