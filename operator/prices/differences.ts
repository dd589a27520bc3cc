import type { CatalogModel } from '../../layers/gateway/domain/catalog.ts'
import { type PriceStrings, type PriceTier, parsePrice, priceAt } from '../../layers/gateway/domain/price.ts'
import { scaledNumber } from '../reading/exact-number.ts'
import type { Edit } from './edit-json.ts'
import { TOKEN_PARTS, type TokenPart } from './listed.ts'

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

type Compared = {
  readonly model: string
  readonly place: string | null
  readonly name: 'cost' | 'price'
  readonly path: readonly (string | number)[]
  readonly ours: PriceStrings | undefined
  readonly proposed: PriceStrings
  readonly lists: ReadonlyMap<string, PriceStrings>
}

type Parts = { readonly differences: readonly Difference[]; readonly edits: readonly Edit[] }

/** Prices are compared as numbers, so that 2.50 stays as it was written. */
export function priceDifferences({ model, place, name, path, ours, proposed, lists }: Compared): Parts {
  const rows = ([...TOKEN_PARTS, 'tiers'] as const).flatMap((field) => {
    const [was, is] = [stateField(ours?.[field]), stateField(proposed[field])]
    const said = [...lists].flatMap(([label, list]) => {
      const text = stateField(list[field])
      return text === undefined ? [] : [[label, text] as const]
    })
    const differ = new Set(said.map(([, text]) => text)).size > 1
    if (is === undefined || (was === is && !differ)) return []
    const falls =
      ours !== undefined && (field === 'tiers' ? tiersFall(ours, proposed) : hasFallen(ours[field], proposed[field]))
    const lists_ = Object.fromEntries(said)
    const row = {
      model,
      route: place,
      field: `${name}.${field}`,
      ours: was ?? null,
      proposed: is,
      lists: lists_,
      falls,
    }
    return [{ row, edit: was === is ? undefined : { path: [...path, name, field], value: proposed[field] } }]
  })
  const edits = rows.flatMap(({ edit }) => edit ?? [])
  const isNew = ours === undefined && edits.length > 0
  return {
    differences: rows.map(({ row }) => row),
    edits: isNew ? [{ path: [...path, name], value: proposed }] : edits,
  }
}

/** In one form, however it was written. */
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
  if (before === undefined || after === undefined) return false
  return isFall(scaledNumber(before, 6) ?? 0n, scaledNumber(after, 6) ?? 0n)
}

function isFall(before: bigint, after: bigint): boolean {
  return after * 2n < before
}

/** For prompts of any length. */
function tiersFall(before: PriceStrings, after: PriceStrings): boolean {
  const [was, is] = [parsePrice(before), parsePrice(after)]
  const borders = [...was.tiers, ...is.tiers].map(({ above }) => above + 1)
  const parts: readonly TokenPart[] = ['input', 'output']
  return borders.some((tokens) =>
    parts.some((part) => isFall(priceAt(was, tokens)[`${part}Pico`], priceAt(is, tokens)[`${part}Pico`])),
  )
}

export function tokenDifference(
  model: CatalogModel,
  i: number,
  field: 'contextLength' | 'maxOutputTokens',
  proposed: number,
  lists: ReadonlyMap<string, number | undefined>,
): Partial<Parts> {
  const ours = model[field]
  const said = [...lists].filter(([, tokens]) => tokens !== undefined)
  if (ours === proposed && new Set(said.map(([, tokens]) => tokens)).size <= 1) return {}
  const row: Difference = {
    model: model.id,
    route: null,
    field,
    ours: String(ours),
    proposed: String(proposed),
    lists: Object.fromEntries(said.map(([label, tokens]) => [label, String(tokens)])),
    falls: proposed * 2 < ours,
  }
  return { differences: [row], edits: ours === proposed ? [] : [{ path: ['models', i, field], value: proposed }] }
}
