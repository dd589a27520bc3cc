import { addParts, partOf, type UsagePart } from './day-total.ts'
import { addHistograms, countIn, type Histogram, NO_HISTOGRAM } from './histogram.ts'
import { routeKey } from './route-order.ts'
import { hasFailed, type UsageRow } from './usage-row.ts'

/** Requests for one model at one provider. */
export type ModelPart = UsagePart & {
  /** Milliseconds to the first token. */
  readonly firstToken: Histogram
  /** Milliseconds of completed requests. */
  readonly duration: Histogram
}

/** The attempts at one route: a fallback's attempt counts for the fallback, and a route that failed before it as failed. */
export type Asked = { readonly asked: number; readonly failed: number }

/** The requests of all keys in some time, added up in three ways. */
export class UsageSum {
  /** By model and provider. */
  readonly models = new Map<string, ModelPart>()
  /** By the id of their key, all models together. */
  readonly keys = new Map<string, UsagePart>()
  /** By the key of a route. */
  readonly routes = new Map<string, Asked>()

  addRow(row: UsageRow): void {
    const { model, provider, ...figures } = partOf(row)
    const { ttftMs, durationMs, outcome } = row
    this.addModel({
      ...figures,
      model,
      provider,
      firstToken: ttftMs === undefined ? NO_HISTOGRAM : countIn(NO_HISTOGRAM, ttftMs),
      duration: outcome === 'completed' ? countIn(NO_HISTOGRAM, durationMs) : NO_HISTOGRAM,
    })
    this.addKey(row.keyId, figures)
    for (const attempt of row.attempts)
      this.addRoute(routeKey(attempt), { asked: 1, failed: hasFailed(attempt) ? 1 : 0 })
  }

  addModel(part: ModelPart): void {
    const name = modelPartKey(part.model, part.provider)
    const before = this.models.get(name)
    this.models.set(name, before ? addModels(before, part) : part)
  }

  addKey(keyId: string, part: UsagePart): void {
    const before = this.keys.get(keyId)
    this.keys.set(keyId, before ? addParts(before, part) : part)
  }

  addRoute(route: string, { asked, failed }: Asked): void {
    const before = this.routes.get(route) ?? { asked: 0, failed: 0 }
    this.routes.set(route, { asked: before.asked + asked, failed: before.failed + failed })
  }

  add(other: UsageSum): void {
    for (const part of other.models.values()) this.addModel(part)
    for (const [keyId, part] of other.keys) this.addKey(keyId, part)
    for (const [route, asked] of other.routes) this.addRoute(route, asked)
  }
}

/** The key in `models`. */
export function modelPartKey(model: string | undefined, provider: string | undefined): string {
  return JSON.stringify([model, provider])
}

export function addModels(a: ModelPart, b: ModelPart): ModelPart {
  return {
    ...addParts(a, b),
    firstToken: addHistograms(a.firstToken, b.firstToken),
    duration: addHistograms(a.duration, b.duration),
  }
}
