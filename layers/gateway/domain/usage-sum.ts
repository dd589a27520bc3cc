import { addTo, emptyPart, partOf, type UsagePart } from './day-total.ts'
import { addHistogram, countIn, emptyHistogram, type Histogram } from './histogram.ts'
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
    const part = partOf(row)
    const { ttftMs, durationMs, outcome } = row
    const model = this.#modelOf(part)
    addTo(model, part)
    if (ttftMs !== undefined) countIn(model.firstToken, ttftMs)
    if (outcome === 'completed') countIn(model.duration, durationMs)
    this.addKey(row.keyId, part)
    for (const attempt of row.attempts)
      this.addRoute(routeKey(attempt), { asked: 1, failed: hasFailed(attempt) ? 1 : 0 })
  }

  addModel(part: ModelPart): void {
    addToModel(this.#modelOf(part), part)
  }

  #modelOf(part: UsagePart): ModelPart {
    const name = modelPartKey(part.model, part.provider)
    const model = this.models.get(name) ?? emptyModel(part)
    this.models.set(name, model)
    return model
  }

  addKey(keyId: string, part: UsagePart): void {
    const sum = this.keys.get(keyId) ?? emptyPart()
    this.keys.set(keyId, sum)
    addTo(sum, part)
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

/** A part to add to. */
export function emptyModel(names?: Pick<UsagePart, 'model' | 'provider'>): ModelPart {
  return { ...emptyPart(names), firstToken: emptyHistogram(), duration: emptyHistogram() }
}

export function addToModel(sum: ModelPart, part: ModelPart): void {
  addTo(sum, part)
  addHistogram(sum.firstToken, part.firstToken)
  addHistogram(sum.duration, part.duration)
}
