import type { Overview } from '../../../layers/admin/api/shapes/usage.ts'

export type ProviderState = {
  readonly provider: string
  readonly routes: number
  readonly attempts: number
  readonly failures: number
}

/** The routes of each provider together. One upstream model may stand behind several, and is counted once. */
export function providersOf(routes: Overview['routes']): ProviderState[] {
  return [...Map.groupBy(routes, ({ provider }) => provider)].map(([provider, own]) => {
    const models = [...new Map(own.map((route) => [route.upstream_model, route])).values()]
    const sum = (of: (route: Overview['routes'][number]) => number) => models.reduce((all, route) => all + of(route), 0)
    return {
      provider,
      routes: own.length,
      attempts: sum((route) => route.requests_24h),
      failures: sum((route) => route.failures_24h),
    }
  })
}
