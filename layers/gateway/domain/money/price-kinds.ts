type Row = {
  /** A price is in credits for a million tokens, or for one piece. */
  readonly unit: 'token' | 'piece'
  /** The kind whose tokens these are a part of. Without a price of its own, it costs as much as that. */
  readonly of?: string
  /** Or so many times as much, as providers bill it. Held for where it has a price; tiers keep the proportion. */
  readonly times?: readonly [bigint, bigint]
  /** The count on a bill that is charged; there is one request. */
  readonly quantity?: string
  readonly line: string
  /** Its name in the prices of a model; OpenRouter's, where it has one. */
  readonly api: string
}

/** The catalog's schema, holds, bills, rows and sums come from these rows. New ones go to the end, as new columns. */
const PRICE_KINDS = {
  input: { unit: 'token', quantity: 'prompt', line: 'prompt', api: 'prompt' },
  output: { unit: 'token', quantity: 'completion', line: 'completion', api: 'completion' },
  cachedInput: { unit: 'token', of: 'input', quantity: 'cached', line: 'cached', api: 'input_cache_read' },
  cacheWrite: {
    unit: 'token',
    of: 'input',
    times: [5n, 4n],
    quantity: 'cacheWrite',
    line: 'cache write',
    api: 'input_cache_write',
  },
  cacheWrite1h: {
    unit: 'token',
    of: 'cacheWrite',
    times: [8n, 5n],
    quantity: 'cacheWrite1h',
    line: 'cache 1h',
    api: 'input_cache_write_1h',
  },
  request: { unit: 'piece', line: 'request', api: 'request' },
  image: { unit: 'piece', quantity: 'images', line: 'images', api: 'image' },
} as const satisfies Readonly<Record<string, Row>>

type Kinds = typeof PRICE_KINDS
export type PriceKind = keyof Kinds
type With<Column> = { [Kind in PriceKind]: Kinds[Kind] extends Column ? Kind : never }[PriceKind]
export type TokenKind = With<{ readonly unit: 'token' }>
export type PieceKind = Exclude<PriceKind, TokenKind>
export type PartKind = With<{ readonly of: PriceKind }>
type CountedKind = With<{ readonly quantity: string }>
export type Quantity = Kinds[CountedKind]['quantity']
export type PartQuantity = Kinds[PartKind]['quantity']
type FieldOf<Kind extends CountedKind> = Kind extends TokenKind
  ? `${Kinds[Kind]['quantity']}Tokens`
  : Kinds[Kind]['quantity']
export type CountField = FieldOf<CountedKind>

export type PriceRow = Row & {
  readonly kind: PriceKind
  readonly pico: `${PriceKind}Pico`
  /** The quantities that are a part of its own, and charged by themselves. */
  readonly parts: readonly PartQuantity[]
  readonly of?: PriceKind
  readonly quantity?: Quantity
  readonly field?: CountField
  readonly line: Kinds[PriceKind]['line']
}

const ENTRIES = Object.entries(PRICE_KINDS) as [PriceKind, Row][]

export const PRICE_ROWS = ENTRIES.map(([kind, row]) => ({
  kind,
  pico: `${kind}Pico`,
  parts: ENTRIES.flatMap(([, { of, quantity }]) => (of === kind ? quantity : [])),
  field: row.quantity && row.unit === 'token' ? `${row.quantity}Tokens` : row.quantity,
  ...row,
})) as readonly PriceRow[]
export const TOKEN_FIELDS = PRICE_ROWS.flatMap(({ unit, field }) =>
  unit === 'token' ? field : [],
) as FieldOf<TokenKind>[]
export const PARTS = PRICE_ROWS.filter(({ of }) => of) as readonly (PriceRow & {
  readonly kind: PartKind
  readonly of: PriceKind
  readonly quantity: PartQuantity
  readonly field: FieldOf<PartKind>
})[]
export const WRITES = PARTS.filter(({ times }) => times)
/** The lives of tokens that are written to a cache, beside the default one; the last is the dearest. */
export const LIVES = PARTS.filter(({ of }) => of === 'cacheWrite')

type Words = {
  readonly catalog: string
  readonly tier?: string
  readonly told: string
  readonly label: string
  readonly part?: string
}

/** People read these words. No function that answers chats has them in its bundle. */
export const PRICE_WORDS: Readonly<Record<PriceKind, Words>> = {
  input: {
    catalog: 'Credits per million prompt tokens, as a decimal string.',
    tier: 'As input, within this tier.',
    told: 'For one prompt token.',
    label: 'Input',
  },
  output: {
    catalog: 'Credits per million completion tokens, as a decimal string.',
    tier: 'As output, within this tier.',
    told: 'For one completion token.',
    label: 'Output',
  },
  cachedInput: {
    catalog: 'Credits per million prompt tokens read from a cache. Default: input.',
    tier: 'As cachedInput. Default: the input of this tier.',
    told: 'For one prompt token read from a cache.',
    label: 'Cached input',
    part: 'cached',
  },
  cacheWrite: {
    catalog:
      'Credits per million prompt tokens that a provider writes to its cache. Without this price no cache_control is sent.',
    tier: 'As cacheWrite. Default: in the proportion to input that the base price has.',
    told: 'For one prompt token written to a cache; absent if that costs no other price.',
    label: 'Cache write',
    part: 'written to the cache',
  },
  cacheWrite1h: {
    catalog:
      'Credits per million prompt tokens that a provider writes to its cache for an hour. Without this price a ttl of 1h is shortened to the default life.',
    tier: 'As cacheWrite1h. Default: in the proportion that the base price has.',
    told: 'For one that stays there for an hour; absent if that costs no other price.',
    label: 'Cache write, 1 h',
    part: 'for an hour',
  },
  request: {
    catalog: 'Credits for each request. Default: 0.',
    told: 'For a request; absent if it costs nothing of its own.',
    label: 'Each request',
  },
  image: {
    catalog: 'Credits for each image in the prompt. Default: 0.',
    told: 'For an image; absent if it costs nothing of its own.',
    label: 'Each image',
  },
} satisfies Readonly<Record<PriceKind, Words> & Record<PartKind, { readonly part: string }>>
