import type { List } from '../../layers/admin/api/shapes/answers.ts'
import type { RequestLine } from '../../layers/admin/api/shapes/requests.ts'
import { DAY_MS } from '../../layers/gateway/domain/basics/time.ts'
import { printTable, summed, wide } from '../../layers/terminal/table.ts'
import type { Screen, Style } from '../../layers/terminal/terminal.ts'
import type { Ask } from '../admin-client/ask.ts'
import { shortTime } from './time-range.ts'
import { filterQuery, hasStatus, type UsageFilter } from './usage-filter.ts'

type RangeQuery = { readonly from: string; readonly to?: string | undefined }

/** The newest requests. Pages are read until so many have the status. */
export async function listRequests(
  { admin }: { readonly admin: Pick<Ask, 'list'> },
  range: RangeQuery,
  filter: UsageFilter,
  most: number,
): Promise<List<RequestLine>> {
  const query = { ...filterQuery(filter), ...range }
  const data: RequestLine[] = []
  for (let after: string | undefined; ; ) {
    const page = await admin.list<RequestLine>('/requests', { ...query, after }, most)
    const matching = page.data.filter((line) => hasStatus(filter, line.http_status))
    data.push(...matching)
    const isWhole = matching.length === page.data.length
    if (!page.has_more || page.last_id === null || isWhole || data.length >= most) {
      return { ...page, data: data.slice(0, most) }
    }
    after = page.last_id
  }
}

export function printRequests(out: Screen, requests: readonly RequestLine[], nowMs: number): void {
  printTable(out, requests, {
    started: { of: (line) => line.started_at, short: (line) => startText(line, nowMs), isWhole: true },
    request: { of: (line) => line.request_id, isWhole: true },
    key: { of: (line) => line.key_id, short: (line) => line.key_name ?? line.key_id },
    name: wide((line) => line.key_name),
    endpoint: wide((line) => line.endpoint),
    model: (line) => line.model,
    provider: { of: (line) => line.provider, isSpare: true },
    status: { of: (line) => line.http_status, style: statusStyle },
    outcome: { of: outcomeText, short: (line) => line.error_code ?? outcomeText(line), isSpare: true },
    tokens: { of: (line) => line.total_tokens, isSummed: true, isSpare: true },
    credits: summed((line) => line.cost),
  })
}

/** The time of a request of the last 24 hours, and the day of an older one. */
function startText({ started_at }: RequestLine, nowMs: number): string {
  const text = shortTime(started_at)
  return nowMs - Date.parse(started_at) < DAY_MS ? text.slice(11) : text.slice(5, 16)
}

export function statusStyle({ http_status }: Pick<RequestLine, 'http_status'>): Style {
  if (http_status < 400) return 'good'
  return http_status < 500 ? 'warn' : 'bad'
}

function outcomeText({ outcome, error_code, replay_of }: RequestLine): string {
  const more = error_code ?? (replay_of && 'replayed')
  return more ? `${outcome} (${more})` : outcome
}
