import type { UsagePage } from '../../../layers/admin/api/shapes/usage.ts'
import { csvOf, disarm } from '../../parts/csv.ts'

const NUMBERS = [
  'requests',
  'completed',
  'refused',
  'failed',
  'prompt_tokens',
  'completion_tokens',
  'cached_tokens',
  'cost',
  'upstream_cost',
  'margin',
  'without_cost',
] as const

/** A line for each day or hour and group, as the server counted them. */
export function usageCsv({ data, groups, group_by }: UsagePage, isByHour = false): string {
  const labels = new Map(groups.map(({ group, label }) => [group, label]))
  const lines = data.flatMap(({ start_time, results }) =>
    results.map((numbers) => [
      isByHour ? start_time : start_time.slice(0, 10),
      disarm(numbers.group),
      disarm(labels.get(numbers.group) ?? ''),
      ...NUMBERS.map((name) => String(numbers[name])),
    ]),
  )
  return csvOf([[isByHour ? 'hour' : 'day', group_by, 'label', ...NUMBERS], ...lines])
}
