import type { Secret } from '../../domain/key.ts'
import type { Item } from '../database.ts'

type Secrets = {
  readonly current: Secret
  readonly previous?: (Secret & { readonly untilMs: number }) | undefined
}

/** The stored form of a secret and the one before it, for keys and admin keys alike. */
export function secretAttributes({ current, previous }: Secrets): Item {
  return {
    currentHash: current.hash,
    currentLastFour: current.lastFour,
    previousHash: previous?.hash,
    previousLastFour: previous?.lastFour,
    previousUntilMs: previous?.untilMs,
  }
}

export function currentSecret(item: Item): Secret {
  return { hash: item.currentHash as string, lastFour: item.currentLastFour as string }
}

/** Undefined if there is none. */
export function previousSecret(item: Item): (Secret & { readonly untilMs: number }) | undefined {
  if (item.previousHash === undefined) return undefined
  const { previousHash: hash, previousLastFour: lastFour, previousUntilMs: untilMs } = item
  return { hash: hash as string, lastFour: lastFour as string, untilMs: untilMs as number }
}
