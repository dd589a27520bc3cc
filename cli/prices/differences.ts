import { type PriceStrings, type PriceTier, parsePrice, priceAt } from '../../layers/gateway/domain/money/price.ts'
import { scaledNumber } from '../reading/exact-number.ts'
import type { Edit } from './edit-json.ts'
import { TOKEN_PARTS } from './listed.ts'

/** A value that differs from what lists say, or on which they differ. */
export type Difference = {
  readonly model: string
  /** The route; null for a field of the model. */
  readonly route: string | null
  readonly field: string
  readonly ours: string | null
  readonly proposed: string
  /** By the label of the list. */
  readonly lists: Readonly<Record<string, string>>
  /** True if it falls by more than half. */
  readonly falls: boolean
}

type Compared<Value> = {
  readonly model: string
  readonly route: string | null
  /** The last part of its path in words, for prices with `cost` or `price` before it. */
  readonly field: string
  readonly path: Edit['path']
  readonly ours: Value | undefined
  readonly proposed: Value
  readonly lists: ReadonlyMap<string, Value | undefined>
}

type Parts = { readonly differences: readonly Difference[]; readonly edits: readonly Edit[] }

/** `state` makes one text of a value, however it was written. */
function difference<Value>(
  { path, ours, proposed, lists, ...where }: Compared<Value>,
  state: (value: Value | undefined) => string | undefined,
  falls: boolean,
): Parts {
  const [was, is] = [state(ours), state(proposed)]
  const said = [...lists].flatMap(([label, value]) => {
    const text = state(value)
    return text === undefined ? [] : [[label, text] as const]
  })
  const isDisputed = new Set(said.map(([, text]) => text)).size > 1
  if (is === undefined || (was === is && !isDisputed)) return { differences: [], edits: [] }
  return {
    differences: [{ ...where, ours: was ?? null, proposed: is, lists: Object.fromEntries(said), falls }],
    edits: was === is ? [] : [{ path, value: proposed }],
  }
}

export function tokenDifference(compared: Compared<number>): Parts {
  const { ours = 0, proposed } = compared
  return difference(compared, (tokens) => tokens?.toString(), proposed * 2 < ours)
}

/** Prices are compared as numbers, so that 2.50 stays as it was written. */
export function priceDifferences({ path, ours, proposed, lists, ...where }: Compared<PriceStrings>): Parts {
  const parts = ([...TOKEN_PARTS, 'tiers'] as const).map((field) => {
    const falls =
      ours !== undefined && (field === 'tiers' ? tiersFall(ours, proposed) : hasFallen(ours[field], proposed[field]))
    const compared = {
      ...where,
      field: `${where.field}.${field}`,
      path: [...path, field],
      ours: ours?.[field],
      proposed: proposed[field],
      lists: new Map([...lists].map(([label, list]) => [label, list?.[field]])),
    }
    return difference<string | readonly PriceTier[] | undefined>(compared, stateField, falls)
  })
  const edits = parts.flatMap((part) => part.edits)
  return {
    differences: parts.flatMap((part) => part.differences),
    edits: ours === undefined && edits.length > 0 ? [{ path, value: proposed }] : edits,
  }
}

function stateField(value: string | readonly PriceTier[] | undefined): string | undefined {
  if (value === undefined || typeof value === 'string') return value && plainPrice(value)
  const tiers = value.map((tier) => {
    const parts = TOKEN_PARTS.flatMap((part) => (tier[part] === undefined ? [] : `${part} ${plainPrice(tier[part])}`))
    return `above ${tier.above}: ${parts.join(', ')}`
  })
  return tiers.join('; ') || undefined
}

function plainPrice(text: string): string {
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text
}

function hasFallen(before: string | undefined, after: string | undefined): boolean {
  return after !== undefined && isFall(scaledNumber(before, 6) ?? 0n, scaledNumber(after, 6) ?? 0n)
}

function isFall(before: bigint, after: bigint): boolean {
  return after * 2n < before
}

/** For prompts of any length. */
function tiersFall(before: PriceStrings, after: PriceStrings): boolean {
  const [was, is] = [parsePrice(before), parsePrice(after)]
  const lengths = [...was.tiers, ...is.tiers].map(({ above }) => above + 1)
  return lengths.some((tokens) =>
    (['inputPico', 'outputPico'] as const).some((part) =>
      isFall(priceAt(was, tokens)[part], priceAt(is, tokens)[part]),
    ),
  )
}
