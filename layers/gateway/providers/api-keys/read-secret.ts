import {
  keyFor,
  type ProviderSecret,
  parseProviderSecret,
  type SecretFault,
} from '../../domain/routing/provider-secret.ts'
import { type FetchSecret, secretFetcher } from './fetch-secret.ts'

/** The key for the provider at this address; undefined if there is none. Throws an UpstreamFailure if it may not have it. */
type ReadSecret = (name: string, baseUrl: string) => Promise<string | undefined>

type Secret = ProviderSecret | SecretFault

type SecretSource = {
  readonly fullName: (name: string) => string
  readonly clock: () => number
  /** Called for every look-up that failed while the last good value could still be used. */
  readonly problem: (what: string, error: unknown) => void
  readonly fetchSecret?: FetchSecret
}

/** A new key is in use after this long, without a deployment. */
const MAX_AGE_MS = 5 * 60_000
/** From this age on the next value is fetched in the background, so that a busy instance never waits for it. */
const REFRESH_AGE_MS = 4 * 60_000
/** A value that cannot be refreshed is used up to this age. */
const LAST_GOOD_MS = 60 * 60_000
const RETRY_PAUSE_MS = 30_000

type Kept = { readonly value: Secret; readonly readAtMs: number; readonly failedAtMs?: number }

/** A provider's key from Secrets Manager, kept for five minutes, or for an hour while Secrets Manager is away. */
export function readSecret(source: SecretSource): ReadSecret {
  const { fullName, clock, problem, fetchSecret: fetch = secretFetcher() } = source
  const kept = new Map<string, Kept>()
  const underWay = new Map<string, Promise<Secret | undefined>>()

  async function lookUp(name: string): Promise<Secret | undefined> {
    const readAtMs = clock()
    const text = await fetch(fullName(name))
    const value = text === undefined ? undefined : parseProviderSecret(text)
    // Neither cached nor replaced by the last good one: a secret that is mended works at once.
    if (value === undefined || 'fault' in value) kept.delete(name)
    else kept.set(name, { value, readAtMs })
    return value
  }

  async function refresh(name: string, known: Kept): Promise<Secret | undefined> {
    try {
      return await lookUp(name)
    } catch (error) {
      kept.set(name, { ...known, failedAtMs: clock() })
      problem(`the secret '${name}' could not be read again, and its last value stays in use`, error)
      return known.value
    }
  }

  /** Requests that need the same secret concurrently share one look-up. */
  function shared(name: string, begin: () => Promise<Secret | undefined>): Promise<Secret | undefined> {
    const begun = underWay.get(name) ?? begin().finally(() => underWay.delete(name))
    underWay.set(name, begun)
    return begun
  }

  async function secretOf(name: string): Promise<Secret | undefined> {
    const nowMs = clock()
    const known = kept.get(name)
    const ageMs = known ? nowMs - known.readAtMs : Number.POSITIVE_INFINITY
    if (!known || ageMs >= LAST_GOOD_MS || ageMs < 0) return shared(name, () => lookUp(name))
    if (ageMs < REFRESH_AGE_MS || isPaused(known, nowMs)) return known.value
    const refreshed = shared(name, () => refresh(name, known))
    // Once a refresh has failed Secrets Manager is known to be away, and no request waits to find that out again.
    return ageMs < MAX_AGE_MS || known.failedAtMs !== undefined ? known.value : refreshed
  }

  return async (name, baseUrl) => {
    const secret = await secretOf(name)
    return secret && keyFor(fullName(name), secret, baseUrl)
  }
}

function isPaused({ failedAtMs }: Kept, nowMs: number): boolean {
  return failedAtMs !== undefined && nowMs >= failedAtMs && nowMs - failedAtMs < RETRY_PAUSE_MS
}
