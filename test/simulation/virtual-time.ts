import { syncBuiltinESMExports } from 'node:module'
import timersPromises from 'node:timers/promises'

type Work = () => void

const realImmediate = setImmediate

/** Lets everything run that waits for nothing outside: microtasks and next ticks, until none is left. */
export function drain(): Promise<void> {
  return new Promise((resolve) => realImmediate(resolve))
}

class VirtualTimer {
  atMs: number
  readonly delayMs: number
  readonly repeats: boolean
  readonly work: Work
  readonly #time: VirtualTime

  constructor(time: VirtualTime, delayMs: number, repeats: boolean, work: Work) {
    this.#time = time
    this.delayMs = Math.max(1, delayMs)
    this.repeats = repeats
    this.work = work
    this.atMs = time.nowMs + this.delayMs
  }

  refresh(): this {
    this.atMs = this.#time.nowMs + this.delayMs
    this.#time.timers.add(this)
    return this
  }

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }
}

/** Time that passes only when it is told to. Takes the place of every timer in this process. */
export class VirtualTime {
  nowMs = 0
  readonly timers = new Set<VirtualTimer>()

  reset(nowMs: number): void {
    this.nowMs = nowMs
    this.timers.clear()
  }

  async advance(ms: number): Promise<void> {
    const untilMs = this.nowMs + ms
    for (let timer = this.#firstUntil(untilMs); timer; timer = this.#firstUntil(untilMs)) {
      this.nowMs = Math.max(this.nowMs, timer.atMs)
      // Once is enough: what repeats keeps a connection alive, also that of a node which is dead.
      if (timer.repeats) timer.atMs = untilMs + timer.delayMs
      else this.timers.delete(timer)
      timer.work()
      await drain()
    }
    this.nowMs = untilMs
  }

  #firstUntil(untilMs: number): VirtualTimer | undefined {
    let first: VirtualTimer | undefined
    for (const timer of this.timers) {
      if (timer.atMs <= untilMs && (!first || timer.atMs < first.atMs)) first = timer
    }
    return first
  }

  install(): void {
    const start =
      (repeats: boolean) =>
      (work: (...args: unknown[]) => void, ms = 1, ...args: unknown[]) => {
        const timer = new VirtualTimer(this, ms, repeats, () => work(...args))
        this.timers.add(timer)
        return timer
      }
    const stop = (timer: VirtualTimer) => this.timers.delete(timer)
    Object.assign(globalThis, {
      setTimeout: start(false),
      setInterval: start(true),
      clearTimeout: stop,
      clearInterval: stop,
    })
    Object.assign(timersPromises, {
      setTimeout: (ms: number, value: unknown, options = {}) => this.#sleep(ms, value, options),
    })
    syncBuiltinESMExports()
  }

  #sleep(ms: number, value: unknown, { signal }: { signal?: AbortSignal }): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const timer = new VirtualTimer(this, ms, false, () => resolve(value))
      this.timers.add(timer)
      signal?.addEventListener('abort', () => {
        this.timers.delete(timer)
        reject(signal.reason)
      })
    })
  }
}
