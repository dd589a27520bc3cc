import { isoTime } from '../../domain/basics/time.ts'
import { formatCredits, type Nano } from '../../domain/money/money.ts'
import { isStated, parsePrice, type StatedPrice } from '../../domain/money/price.ts'
import {
  type Attempt,
  CALLER_FIELDS,
  USAGE_FIELDS,
  type UsageFieldKind,
  type UsageFieldName,
  type UsageRow,
} from '../../domain/rows/usage-row.ts'
import { pricing } from '../routing/models.ts'

type UsageRecord = Readonly<Record<string, unknown>>

const SHOWN: Readonly<Record<UsageFieldKind, (value: unknown) => unknown>> = {
  text: (value) => value ?? null,
  count: (value) => value ?? 0,
  number: (value) => value ?? null,
  credits: (value) => (value === undefined ? null : formatCredits(value as Nano)),
  moment: (value) => isoTime(value as number),
  flag: (value) => value ?? false,
  // A damaged price is left out, because the rest of its row is of use.
  price: (value) => (value && isStated(value as StatedPrice) ? pricing(parsePrice(value as StatedPrice)) : null),
  tags: (value) => value ?? null,
  // The caller is not told how the operator's providers put it.
  attempts: (value) => (Array.isArray(value) ? value.map(({ said, ...attempt }: Attempt) => attempt) : value),
}

export function recordOf(names: readonly UsageFieldName[]): (row: Partial<UsageRow>) => UsageRecord {
  const fields = names.map((name) => ({ name, ...USAGE_FIELDS[name] }))
  return (row) => Object.fromEntries(fields.map(({ name, api, kind }) => [api, SHOWN[kind](row[name])]))
}

const callerPart = recordOf(CALLER_FIELDS)

export function usageRecord(row: UsageRow): UsageRecord {
  return {
    object: 'usage',
    ...callerPart(row),
    total_tokens: row.promptTokens + row.completionTokens,
    estimated_by: row.usageSource === 'estimate' ? (row.estimatedBy ?? 'tokenizer') : null,
  }
}
