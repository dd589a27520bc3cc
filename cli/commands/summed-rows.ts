import type { UsageGroup, UsagePage } from '../../layers/admin/api/shapes/usage.ts'
import { shownGroups, usageNumbers } from '../../layers/admin/usage/usage-numbers.ts'
import { parseCredits } from '../../layers/gateway/domain/money/money.ts'
import { partOf, UsageGroups } from '../../layers/gateway/domain/rows/day-total.ts'
import {
  SUMMED_FIELDS,
  USAGE_FIELDS,
  type UsageFieldName,
  type UsageRow,
} from '../../layers/gateway/domain/rows/usage-row.ts'
import { type Exported, exportedLines } from './exported-rows.ts'
import type { Session } from './run.ts'
import type { Range } from './time-range.ts'
import { filterQuery, hasStatus, type UsageFilter } from './usage-filter.ts'

type Wanted = { readonly by: SummaryGroup } & { readonly [Name in keyof UsageFilter]: UsageFilter[Name] | undefined }

/** Callers may name any number of users; the rows of those beyond this many are added up together. */
const MOST_GROUPS = 10_000
const OTHERS = '(others)'

const GROUPS: Readonly<Record<UsageGroup | 'user', (row: UsageRow, exported: Exported) => string>> = {
  model: ({ model }) => model ?? '-',
  key: (_, { key_id }) => key_id,
  provider: ({ provider }) => provider ?? '-',
  day: (_, { started_at }) => started_at.slice(0, 10),
  user: ({ user }) => user ?? '-',
}

/** Sums by user or tag are in no total of an hour or a day: there may be as many as there are requests. */
export type SummaryGroup = UsageGroup | 'user' | `tag:${string}`

export function isOfRows(by: SummaryGroup): by is 'user' | `tag:${string}` {
  return by === 'user' || isTag(by)
}

function isTag(by: SummaryGroup): by is `tag:${string}` {
  return by.startsWith('tag:')
}

function groupOf(by: SummaryGroup): (row: UsageRow, exported: Exported) => string {
  if (!isTag(by)) return GROUPS[by]
  const name = by.slice('tag:'.length)
  return ({ tags }) => (tags && Object.hasOwn(tags, name) && tags[name]) || '-'
}

/** The summary of rows by a filter or a group that the admin API does not add up by, which are streamed and added up here. It has no buckets. */
export async function summedRows(session: Session, range: Range, wanted: Wanted): Promise<UsagePage> {
  const filter = wanted as UsageFilter
  const { key_id: key, ...query } = filterQuery(filter)
  const rows = exportedLines(session.admin, { ...range, toMs: range.toMs ?? session.nowMs, key, ...query })
  const groups = new UsageGroups()
  const named = new Set<string>()
  const nameOf = groupOf(wanted.by)
  let count = 0
  for await (const exported of rows) {
    session.progress.say(`usage summary: ${++count} rows`)
    if (!hasStatus(filter, exported.http_status)) continue
    const row = rowOf(exported)
    const name = nameOf(row, exported)
    const isShown = named.has(name) || named.size < MOST_GROUPS
    if (isShown) named.add(name)
    groups.add(isShown ? name : OTHERS, partOf(row))
  }
  const { total } = groups
  return {
    object: 'page',
    // The admin API has no sums by user or tag.
    group_by: wanted.by as UsageGroup,
    data: [],
    total: usageNumbers(total, total.cost),
    groups: shownGroups(groups, wanted.by, wanted.by === 'key' ? await namesOf(session) : undefined),
  }
}

async function namesOf({ admin }: Session): Promise<ReadonlyMap<string, string>> {
  const { data } = await admin.list<{ id: string; name: string }>('/keys')
  return new Map(data.map(({ id, name }) => [id, name]))
}

const READ: readonly UsageFieldName[] = [
  ...SUMMED_FIELDS,
  'model',
  'provider',
  'outcome',
  'usageSource',
  'user',
  'tags',
]

/** As much of a row as sums need. */
export function rowOf(exported: Exported): UsageRow {
  const fields = READ.map((name) => {
    const { api, kind } = USAGE_FIELDS[name]
    const value = exported[api] ?? undefined
    return [name, kind === 'credits' && value !== undefined ? parseCredits(String(value)) : value]
  })
  return Object.fromEntries(fields) as UsageRow
}
