type Row = {
  /** A price is in credits for a million tokens, or for one piece. */
  readonly unit: 'token' | 'piece'
  /** The kind whose tokens these are a part of. Without a price of its own, it costs as much as that. */
  readonly of?: string
  /** Or so many times as much, as providers bill it. Held for where it has a price; tiers keep the proportion. */
  readonly times?: readonly [bigint, bigint]
  /** The count on a bill that is charged; there is one request. */
  readonly quantity?: string
  /** The count's name in a usage, if a provider runs the tool and bills it by the call. */
  readonly calls?: string
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
  webSearch: {
    unit: 'piece',
    quantity: 'webSearches',
    calls: 'web_search_requests',
    line: 'web searches',
    api: 'web_search',
  },
  webFetch: {
    unit: 'piece',
    quantity: 'webFetches',
    calls: 'web_fetch_requests',
    line: 'web fetches',
    api: 'web_fetch',
  },
  fileSearch: {
    unit: 'piece',
    quantity: 'fileSearches',
    calls: 'file_search_requests',
    line: 'file searches',
    api: 'file_search',
  },
  codeExecution: {
    unit: 'piece',
    quantity: 'codeExecutions',
    calls: 'code_execution_requests',
    line: 'code containers',
    api: 'code_execution',
  },
  imageGeneration: {
    unit: 'piece',
    quantity: 'imageGenerations',
    calls: 'image_generation_requests',
    line: 'generated images',
    api: 'image_generation',
  },
  mcpCall: { unit: 'piece', quantity: 'mcpCalls', calls: 'mcp_requests', line: 'MCP calls', api: 'mcp_call' },
} as const satisfies Readonly<Record<string, Row>>

type Kinds = typeof PRICE_KINDS
export type PriceKind = keyof Kinds
type With<Column> = { [Kind in PriceKind]: Kinds[Kind] extends Column ? Kind : never }[PriceKind]
export type TokenKind = With<{ readonly unit: 'token' }>
export type PieceKind = Exclude<PriceKind, TokenKind>
export type CallKind = With<{ readonly calls: string }>
export type PartKind = With<{ readonly of: PriceKind }>
type CountedKind = With<{ readonly quantity: string }>
export type Quantity = Kinds[CountedKind]['quantity']
export type PartQuantity = Kinds[PartKind]['quantity']
export type CallQuantity = Kinds[CallKind]['quantity']
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
export const PIECE_FIELDS = PRICE_ROWS.flatMap(({ unit, field }) =>
  unit === 'piece' && field ? field : [],
) as Exclude<CountField, FieldOf<TokenKind>>[]
export const PARTS = /* @__PURE__ */ PRICE_ROWS.filter(({ of }) => of) as readonly (PriceRow & {
  readonly kind: PartKind
  readonly of: PriceKind
  readonly quantity: PartQuantity
  readonly field: FieldOf<PartKind>
})[]
export const CALLS = /* @__PURE__ */ PRICE_ROWS.filter(({ calls }) => calls) as readonly (PriceRow & {
  readonly kind: CallKind
  readonly quantity: CallQuantity
  readonly calls: string
})[]
export const WRITES = /* @__PURE__ */ PARTS.filter(({ times }) => times)
/** The lives of tokens that are written to a cache, beside the default one; the last is the dearest. */
export const LIVES = /* @__PURE__ */ PARTS.filter(({ of }) => of === 'cacheWrite')

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
  webSearch: {
    catalog: 'Credits for each web search that the provider runs. Without this price the tool is not offered.',
    told: 'A web search; absent if it costs nothing of its own.',
    label: 'Each web search',
  },
  webFetch: {
    catalog: 'Credits for each web page that the provider fetches. Without this price the tool is not offered.',
    told: 'A fetched web page; absent if it costs nothing of its own.',
    label: 'Each web fetch',
  },
  fileSearch: {
    catalog: "Credits for each search of the model's vectorStores. Without this price the tool is not offered.",
    told: 'A file search; absent if it costs nothing of its own.',
    label: 'Each file search',
  },
  codeExecution: {
    catalog: 'Credits for each container in which the provider runs code. Without this price the tool is not offered.',
    told: 'A container for code; absent if it costs nothing of its own.',
    label: 'Each code container',
  },
  imageGeneration: {
    catalog: 'Credits for each image that the provider generates. Without this price the tool is not offered.',
    told: 'A generated image; absent if it costs nothing of its own.',
    label: 'Each generated image',
  },
  mcpCall: {
    catalog: 'Credits for each call of an MCP server by the provider. Without this price the tool is not offered.',
    told: 'A call of an MCP server; absent if it costs nothing of its own.',
    label: 'Each MCP call',
  },
} satisfies Readonly<Record<PriceKind, Words> & Record<PartKind, { readonly part: string }>>
