import type { z } from 'zod'
import { errorsOf } from '../../gateway/domain/rows/day-total.ts'
import { isRequest, type UsageFieldName, type UsageRow } from '../../gateway/domain/rows/usage-row.ts'
import type { requestsQuery } from '../api/shapes/queries.ts'
import { tagTexts } from '../explain/explain-request.ts'

type Sent = Partial<z.output<typeof requestsQuery>>
type Matches = (row: UsageRow) => boolean

/** Filters for one value of the field of a row that has the same name. */
const SAME = ['outcome', 'model', 'provider', 'endpoint', 'user'] as const satisfies readonly UsageFieldName[]

export function requestFilter(sent: Sent): Matches {
  const same = SAME.filter((name) => sent[name] !== undefined)
  const all: Matches[] = same.map((name) => (row) => row[name] === sent[name])
  const { status, tag, stream, error_code: code, calls, cost_from, cost_to, duration_from, duration_to } = sent
  if (calls === undefined && sent.endpoint === undefined) all.push(isRequest)
  // The sums of errors have other names for some.
  if (code !== undefined) all.push((row) => row.errorCode === code || Object.hasOwn(errorsOf(row), code))
  if (tag !== undefined) all.push(({ tags = {} }) => tagTexts(tags).includes(tag) || Object.hasOwn(tags, tag))
  if (status !== undefined) all.push(ofStatus(status))
  if (stream !== undefined) all.push((row) => row.stream === (stream === 'true'))
  if (cost_from !== undefined) all.push(({ cost }) => cost >= cost_from)
  if (cost_to !== undefined) all.push(({ cost }) => cost <= cost_to)
  if (duration_from !== undefined) all.push(({ durationMs }) => durationMs >= duration_from)
  if (duration_to !== undefined) all.push(({ durationMs }) => durationMs <= duration_to)
  return (row) => all.every((matches) => matches(row))
}

function ofStatus(status: string): Matches {
  if (status === 'error') return ({ outcome }) => outcome !== 'completed'
  if (!status.endsWith('xx')) return ({ httpStatus }) => httpStatus === Number(status)
  return ({ httpStatus }) => Math.floor(httpStatus / 100) === Number(status[0])
}
