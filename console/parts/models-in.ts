export type Prices = { readonly [name: string]: unknown }

export type ModelRoute = {
  readonly provider: string
  readonly model: string
  readonly priority?: number
  readonly weight?: number
  readonly cost?: Prices
}

export type Model = {
  readonly id: string
  readonly kind?: string
  readonly active?: boolean
  readonly contextLength?: number
  readonly price?: Prices
  readonly routes?: readonly ModelRoute[]
}

/** The models of a catalog; of a draft, as far as they are models. */
export function modelsIn(catalog: unknown): readonly Model[] {
  const { models } = (catalog ?? {}) as { readonly models?: unknown }
  return Array.isArray(models) ? models.filter((model) => typeof model?.id === 'string') : []
}
