import type { AccountShape } from '../../layers/admin/api/shapes/accounts.ts'
import type { KeyShape } from '../../layers/admin/api/shapes/keys.ts'
import type { UsagePage } from '../../layers/admin/api/shapes/usage.ts'
import { csvLine } from '../../layers/admin/usage/csv-line.ts'

const csvOf = (lines: readonly (readonly unknown[])[]) => lines.map(csvLine).join('')

const KEY_FIELDS = [
  ...['id', 'name', 'external_id', 'status', 'last_four', 'granted', 'available', 'held', 'spent'],
  ...['rpm', 'daily_limit', 'max_concurrent', 'calls_today', 'last_used_at', 'expires_at', 'created_at'],
  ...['note', 'account_id', 'account_name'],
] as const satisfies readonly (keyof KeyShape)[]

export function keysCsv(keys: readonly KeyShape[]): string {
  return csvOf([KEY_FIELDS, ...keys.map((key) => KEY_FIELDS.map((field) => key[field]))])
}

export function customersCsv(customers: readonly AccountShape[]): string {
  return csvOf([Object.keys(customers[0] ?? {}), ...customers.map(Object.values)])
}

const USAGE_NUMBERS = [
  ...['requests', 'completed', 'refused', 'failed', 'broken', 'calls', 'prompt_tokens', 'completion_tokens'],
  ...['cached_tokens', 'cost', 'upstream_cost', 'margin', 'without_cost'],
] as const

export function usageCsv({ data, groups, group_by }: UsagePage, isByHour: boolean): string {
  const labels = new Map(groups.map(({ group, label }) => [group, label]))
  const lines = data.flatMap(({ start_time, results }) =>
    results.map((numbers) => [
      isByHour ? start_time : start_time.slice(0, 10),
      numbers.group,
      labels.get(numbers.group),
      ...USAGE_NUMBERS.map((name) => numbers[name]),
    ]),
  )
  return csvOf([[isByHour ? 'hour' : 'day', group_by, 'label', ...USAGE_NUMBERS], ...lines])
}
