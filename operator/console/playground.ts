import { randomBytes } from 'node:crypto'
import { BRAND } from '../../layers/gateway/contract.ts'
import { newAct } from '../../layers/gateway/domain/act.ts'
import { KEY_DEFAULTS } from '../../layers/gateway/domain/new-key.ts'
import { revokeKey } from '../../layers/gateway/store/keys/revoke-key.ts'
import type { Connection } from '../connect.ts'
import { issueKey } from '../issue-key.ts'

const CREDITS = 10n ** 9n
/** So that the key of a console that was killed does not stay. */
const LIFETIME_MS = 12 * 60 * 60 * 1000
const MOST_NAME = 100

export type Playground = AsyncDisposable & {
  /** Asks the gateway with a key that is made for it, at the first call. */
  chat(body: Uint8Array, signal: AbortSignal): Promise<Response>
  models(signal: AbortSignal): Promise<Response>
}

export function openPlayground({ tables, chatUrl, apiUrl, whoAmI }: Connection, clock: () => number): Playground {
  let making: Promise<{ readonly id: string; readonly secret: string }> | undefined

  function ownKey() {
    making ??= makeKey().catch((error) => {
      making = undefined
      throw error
    })
    return making
  }

  async function makeKey() {
    const by = await whoAmI()
    const name = `playground of ${by}`.slice(0, MOST_NAME)
    const settings = { ...KEY_DEFAULTS, name, expiresAtMs: clock() + LIFETIME_MS }
    const { key, secret } = await issueKey(tables, { settings, credits: CREDITS, prefix: BRAND.keyPrefix, by }, clock())
    return { id: key.id, secret }
  }

  /** With another key if the gateway refuses the first: it has expired, or somebody has revoked it. */
  async function asked(url: string, sent: RequestInit): Promise<Response> {
    const used = ownKey()
    const answer = await withSecret((await used).secret)
    if (answer.status !== 401) return answer
    await answer.body?.cancel()
    if (making === used) making = undefined
    return withSecret((await ownKey()).secret)

    function withSecret(secret: string): Promise<Response> {
      return fetch(url, {
        ...sent,
        headers: { Authorization: `Bearer ${secret}`, 'Content-Type': 'application/json' },
      })
    }
  }

  return {
    chat: (body, signal) => asked(`${chatUrl}/v1/chat/completions`, { method: 'POST', body, signal }),
    models: (signal) => asked(`${apiUrl}/v1/models`, { signal }),
    async [Symbol.asyncDispose]() {
      const made = await making?.catch(() => undefined)
      if (made) await revokeKey(tables)(made.id, newAct(await whoAmI(), clock(), randomBytes(10)))
    },
  }
}
