import type { KeyShape } from '../../layers/admin/api/shapes/keys.ts'
import type { UsageGroup, UsagePage } from '../../layers/admin/api/shapes/usage.ts'
import { shownGroups, usageNumbers } from '../../layers/admin/usage/usage-numbers.ts'
import { utcDay } from '../../layers/gateway/domain/basics/time.ts'
import { partOf, UsageGroups } from '../../layers/gateway/domain/rows/day-total.ts'
import type { UsageRow } from '../../layers/gateway/domain/rows/usage-row.ts'
import { exportedRows } from './exported-rows.ts'
import type { Session } from './open-session.ts'
import { filterQuery, type UsageFilter } from './requests.ts'
import type { Range } from './time-range.ts'

/** Callers may name any number of users; the rows of those beyond this many are added up together. */
const MOST_GROUPS = 10_000
const OTHERS = '(others)'
const TAG = 'tag:'

/** Sums by user or tag are in no total of an hour or a day: there may be as many as there are requests. */
export type SummaryGroup = UsageGroup | 'user' | `${typeof TAG}${string}`

const NAMES: Readonly<Record<UsageGroup | 'user', (row: UsageRow) => string | undefined>> = {
  model: ({ model }) => model,
  key: ({ keyId }) => keyId,
  provider: ({ provider }) => provider,
  day: ({ startedAtMs }) => utcDay(startedAtMs),
  user: ({ user }) => user,
}
export const NAMED_GROUPS = Object.keys(NAMES) as (keyof typeof NAMES)[]

/** A summary without buckets, by a filter or a group that the admin API does not add up by: rows are streamed and added up here. */
export async function summedRows(
  session: Session,
  range: Range,
  by: SummaryGroup,
  filter: UsageFilter,
): Promise<UsagePage> {
  const groups = new UsageGroups()
  const named = new Set<string>()
  const group = NAMED_GROUPS.find((one) => one === by)
  const wanted = { ...range, toMs: range.toMs ?? session.nowMs, ...filterQuery(filter) }
  for await (const row of exportedRows(session, 'usage summary', wanted)) {
    const tags = () => new Map(Object.entries(row.tags ?? {}))
    const name = (group ? NAMES[group](row) : tags().get(by.slice(TAG.length))) || '-'
    if (named.size < MOST_GROUPS) named.add(name)
    groups.add(named.has(name) ? name : OTHERS, partOf(row))
  }
  const { total } = groups
  const keys = by === 'key' ? await session.admin.list<KeyShape>('/keys') : undefined
  return {
    object: 'page',
    // The admin API has no sums by user or tag.
    group_by: by as UsageGroup,
    data: [],
    total: usageNumbers(total, total.cost),
    groups: shownGroups(groups, by, keys && new Map(keys.data.map(({ id, name }) => [id, name]))),
  }
}
