import { type Command, InvalidArgumentError } from 'commander'
import { OUTCOMES, type Outcome } from '../../layers/gateway/domain/rows/usage-row.ts'

/** Requests by their outcome, or by their HTTP status. */
type StatusFilter = { readonly outcome: Outcome } | { readonly code: RegExp }

export type UsageFilter = {
  readonly key?: string
  readonly model?: string
  readonly status?: StatusFilter
  readonly user?: string
  readonly tag?: string
}

const CODE = /^[1-5](\d\d|xx)$/
const FORMS = `a status such as 429 or 5xx, or ${OUTCOMES.join(', ')}`

export function filterOptions(command: Command): Command {
  return command
    .option('--key <key>', 'of this key only: its id, name, external id or last four')
    .option('--model <model>', 'for this model only')
    .option('--user <user>', 'of this user only, as callers named it')
    .option('--tag <name=value>', 'with this tag only; a name alone is a tag of any value')
    .option('--status <status>', `only these: ${FORMS}`, readStatus)
}

function readStatus(text: string): StatusFilter {
  const outcome = OUTCOMES.find((one) => one === text)
  if (outcome) return { outcome }
  if (CODE.test(text)) return { code: new RegExp(`^${text.replace('xx', '\\d\\d')}$`) }
  throw new InvalidArgumentError(`It must be ${FORMS}.`)
}

/** The filters that the admin API has. */
export function filterQuery({ key, model, user, tag, status }: UsageFilter) {
  return { key_id: key, model, user, tag, outcome: status && 'outcome' in status ? status.outcome : undefined }
}

/** The filter that it lacks. */
export function hasStatus({ status }: UsageFilter, httpStatus: number): boolean {
  return !status || 'outcome' in status || status.code.test(String(httpStatus))
}
