import { InvalidArgumentError } from 'commander'
import { OUTCOMES } from '../../layers/gateway/domain/rows/usage-row.ts'
import { option } from './arguments.ts'

export type UsageFilter = {
  readonly key?: string
  readonly model?: string
  readonly status?: ReturnType<typeof readStatus>
  readonly user?: string
  readonly tag?: string
}

const FORMS = `a status such as 429 or 5xx, or ${OUTCOMES.join(', ')}`

export const FILTER_OPTIONS = [
  option('--key <key>', 'of this key only: its id, name, external id or last four'),
  option('--model <model>', 'for this model only'),
  option('--user <user>', 'of this user only, as callers named it'),
  option('--tag <name=value>', 'with this tag only; a name alone is a tag of any value'),
  option('--status <status>', `only these: ${FORMS}`, readStatus),
]

/** The admin API has requests by their outcome, or by their HTTP status. */
function readStatus(text: string): { readonly outcome?: string; readonly status?: string } {
  if (OUTCOMES.some((outcome) => outcome === text)) return { outcome: text }
  if (/^[1-5](\d\d|xx)$/.test(text)) return { status: text }
  throw new InvalidArgumentError(`It must be ${FORMS}.`)
}

/** For the admin API. */
export function filterQuery({ key, model, user, tag, status }: UsageFilter) {
  return { key_id: key, model, user, tag, ...status }
}
