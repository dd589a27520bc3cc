export type Prices = { readonly [name: string]: unknown }

export type ModelRoute = { readonly provider: string; readonly model: string; readonly cost?: Prices }

export type Model = {
  readonly id: string
  readonly kind?: string
  readonly active?: boolean
  readonly contextLength?: number
  readonly price?: Prices
  readonly routes?: readonly ModelRoute[]
}

export function modelsIn(catalog: unknown): readonly Model[] {
  const { models } = (catalog ?? {}) as { readonly models?: unknown }
  return Array.isArray(models) ? models.filter((model) => typeof model?.id === 'string') : []
}

/** The highest that a route costs; undefined if none says it. */
export function costOf({ routes = [] }: Model, name: string): string | undefined {
  const costs = (Array.isArray(routes) ? routes : []).flatMap((route: ModelRoute | null) => {
    const cost = route?.cost?.[name]
    return typeof cost === 'string' ? [cost] : []
  })
  return costs.toSorted((a, b) => Number(b) - Number(a))[0]
}

/** `17 %` of the price; nothing where either is missing or no number. */
export function marginText(price: unknown, cost: string | undefined): string | undefined {
  const percent = 100 * (1 - Number(cost) / Number(price))
  return cost === undefined || !Number.isFinite(percent) ? undefined : `${percent.toFixed(0).replace('-', '−')} %`
}
