import type { UsageGroup, UsagePage } from '../../layers/admin/api/shapes/usage.ts'
import { shownGroups, usageNumbers } from '../../layers/admin/usage/usage-numbers.ts'
import { partOf } from '../../layers/gateway/domain/day-total.ts'
import { parseCredits } from '../../layers/gateway/domain/money.ts'
import { UsageGroups } from '../../layers/gateway/domain/usage-groups.ts'
import {
  SUMMED_FIELDS,
  USAGE_FIELDS,
  type UsageFieldName,
  type UsageRow,
} from '../../layers/gateway/domain/usage-row.ts'
import { type Exported, exportedLines } from './exported-rows.ts'
import type { Session } from './run.ts'
import type { Range } from './time-range.ts'
import { filterQuery, hasStatus, type UsageFilter } from './usage-filter.ts'

type Wanted = { readonly by: UsageGroup } & { readonly [Name in keyof UsageFilter]: UsageFilter[Name] | undefined }

const GROUPS: Readonly<Record<UsageGroup, (row: UsageRow, exported: Exported) => string>> = {
  model: ({ model }) => model ?? '-',
  key: (_, { key_id }) => key_id,
  provider: ({ provider }) => provider ?? '-',
  day: (_, { started_at }) => started_at.slice(0, 10),
}

/** The summary of rows with a model or a status, which are streamed and added up here. It has no buckets. */
export async function summedRows(session: Session, range: Range, wanted: Wanted): Promise<UsagePage> {
  const filter = wanted as UsageFilter
  const { key_id: key, ...query } = filterQuery(filter)
  const rows = exportedLines(session.admin, { ...range, toMs: range.toMs ?? session.nowMs, key, ...query })
  const groups = new UsageGroups()
  let count = 0
  for await (const exported of rows) {
    session.progress.say(`usage summary: ${++count} rows`)
    if (!hasStatus(filter, exported.http_status)) continue
    const row = rowOf(exported)
    groups.add(GROUPS[wanted.by](row, exported), partOf(row))
  }
  const { total } = groups
  return {
    object: 'page',
    group_by: wanted.by,
    data: [],
    total: usageNumbers(total, total.cost),
    groups: shownGroups(groups, wanted.by, wanted.by === 'key' ? await namesOf(session) : undefined),
  }
}

async function namesOf({ admin }: Session): Promise<ReadonlyMap<string, string>> {
  const { data } = await admin.list<{ id: string; name: string }>('/keys')
  return new Map(data.map(({ id, name }) => [id, name]))
}

const READ: readonly UsageFieldName[] = [...SUMMED_FIELDS, 'model', 'provider', 'outcome', 'usageSource']

/** As much of a row as sums need. */
function rowOf(exported: Exported): UsageRow {
  const fields = READ.map((name) => {
    const { api, kind } = USAGE_FIELDS[name]
    const value = exported[api] ?? undefined
    return [name, kind === 'credits' && value !== undefined ? parseCredits(String(value)) : value]
  })
  return Object.fromEntries(fields) as UsageRow
}
