import { DAY_MS } from '../../../layers/gateway/domain/basics/time.ts'
import { countOf } from '../../parts/numbers.ts'

/** The charges of days in a row, the last of which is today. */
type Charged = {
  readonly data: readonly { readonly start_time: string; readonly results: readonly { readonly cost: string }[] }[]
}

const WEEK = 7
const YEAR = 365

/** How long a balance lasts at the rate of the last week: an estimate, for which an amount may be a float. */
export function lastsText(available: string, { data }: Charged, nowMs: number): string {
  if (Number(available) <= 0) return 'No credits left: requests are refused.'
  const days = data.slice(-WEEK)
  const cost = days.reduce((sum, { results }) => sum + results.reduce((all, group) => all + Number(group.cost), 0), 0)
  const beginMs = Date.parse(days[0]?.start_time ?? '')
  if (!(cost > 0) || !(nowMs > beginMs)) return 'Nothing was charged in the last week.'
  const left = (Number(available) / cost) * ((nowMs - beginMs) / DAY_MS)
  return `Lasts ${lengthText(left)} at the last week’s rate.`
}

function lengthText(days: number): string {
  if (days > YEAR) return 'more than a year'
  if (days < 1) return `about ${countOf(Math.max(1, Math.round(days * 24)), 'hour')}`
  return `about ${countOf(Math.round(days), 'day')}`
}
