import { routeKey } from '../routing/route-order.ts'
import { isCallersFault, wasAsked } from '../routing/upstream-failure.ts'
import { addTo, emptyPart, partOf, type UsagePart } from './day-total.ts'
import { addHistogram, countIn, emptyHistogram, type Histogram } from './histogram.ts'
import { type Attempt, BEYOND_CAP, type UsageRow } from './usage-row.ts'

export type ModelPart = UsagePart & {
  readonly firstToken: Histogram
  readonly duration: Histogram
}

/** The attempts at one route: a fallback's attempt counts for the fallback, and a route that failed before it as failed. */
export type Asked = {
  readonly asked: number
  readonly failed: number
  /** The provider refused the caller's request. */
  readonly refused?: number | undefined
  readonly lastOkMs?: number | undefined
  readonly lastFailure?: RouteFailure | undefined
}

export type RouteFailure = { readonly atMs: number; readonly requestId: string; readonly result: string }

export class UsageSum {
  readonly models = new Map<string, ModelPart>()
  readonly keys = new Map<string, UsagePart>()
  readonly routes = new Map<string, Asked>()

  addRow(row: UsageRow): void {
    const part = partOf(row)
    const { ttftMs, durationMs } = row
    const model = this.#modelOf(part)
    addTo(model, part)
    if (ttftMs !== undefined) countIn(model.firstToken, ttftMs)
    if (part.completed > 0) countIn(model.duration, durationMs)
    this.addKey(row.keyId, part)
    let atMs = row.startedAtMs
    for (const attempt of row.attempts) {
      atMs += attempt.ms
      if (wasAsked(attempt.result)) this.addRoute(routeKey(attempt), askedIn(attempt, row, atMs))
    }
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

  addRoute(route: string, attempts: Asked): void {
    const before = this.routes.get(route)
    this.routes.set(route, before ? together(before, attempts) : attempts)
  }

  add(other: UsageSum): void {
    for (const part of other.models.values()) this.addModel(part)
    for (const [keyId, part] of other.keys) this.addKey(keyId, part)
    for (const [route, asked] of other.routes) this.addRoute(route, asked)
  }
}

function askedIn({ result }: Attempt, { requestId }: UsageRow, atMs: number): Asked {
  if (result === 'ok' || result === BEYOND_CAP) return { asked: 1, failed: 0, lastOkMs: atMs }
  if (isCallersFault(result)) return { asked: 1, failed: 0, refused: 1 }
  // This gateway failed while it was asked.
  if (result === 'open') return { asked: 1, failed: 0 }
  return { asked: 1, failed: 1, lastFailure: { atMs, requestId, result } }
}

function together(a: Asked, b: Asked): Asked {
  const lastOkMs = Math.max(a.lastOkMs ?? 0, b.lastOkMs ?? 0)
  const lastFailure = laterOf(a.lastFailure, b.lastFailure)
  return {
    asked: a.asked + b.asked,
    failed: a.failed + b.failed,
    refused: (a.refused ?? 0) + (b.refused ?? 0),
    ...(lastOkMs > 0 && { lastOkMs }),
    ...(lastFailure && { lastFailure }),
  }
}

/** The same one in whatever order rows are added. */
function laterOf(a: RouteFailure | undefined, b: RouteFailure | undefined): RouteFailure | undefined {
  if (!a || !b) return a ?? b
  if (a.atMs !== b.atMs) return a.atMs > b.atMs ? a : b
  return a.requestId > b.requestId ? a : b
}

export function modelPartKey(model: string | undefined, provider: string | undefined): string {
  return JSON.stringify([model, provider])
}

export function emptyModel(names?: Pick<UsagePart, 'model' | 'provider'>): ModelPart {
  return { ...emptyPart(names), firstToken: emptyHistogram(), duration: emptyHistogram() }
}

export function addToModel(sum: ModelPart, part: ModelPart): void {
  addTo(sum, part)
  addHistogram(sum.firstToken, part.firstToken)
  addHistogram(sum.duration, part.duration)
}
