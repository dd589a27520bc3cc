import type { UsagePage } from '../../../layers/admin/api/shapes/usage.ts'

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
  return [[isByHour ? 'hour' : 'day', group_by, 'label', ...NUMBERS], ...lines].map(toLine).join('')
}

/** Names come from others, and a spreadsheet would run one that begins like a formula. */
function disarm(text: string): string {
  return /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/.test(text) ? `'${text}` : text
}

/** RFC 4180. */
function toLine(cells: readonly string[]): string {
  return `${cells.map((cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(',')}\r\n`
}
