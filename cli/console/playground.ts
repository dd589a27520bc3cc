import type { WhoAmI } from '../../layers/admin/api/shapes/answers.ts'
import type { KeyShape } from '../../layers/admin/api/shapes/keys.ts'
import { HOUR_MS, isoTime } from '../../layers/gateway/domain/basics/time.ts'
import { BRAND } from '../../layers/gateway/names.ts'
import { CliError } from '../../layers/terminal/output.ts'
import { ask } from '../admin-client/ask.ts'
import type { AdminClient } from '../admin-client/http-client.ts'
import { Refusal } from '../admin-client/refusal.ts'
import { newSecret } from '../commands/new-secret.ts'
import type { Connection } from '../connect/connect.ts'

export type Playground = ReturnType<typeof openPlayground>

type OwnKey = { readonly id: string; readonly secret: string; readonly expiresAt: string }

export function openPlayground(client: AdminClient, { chatUrl }: Pick<Connection, 'chatUrl'>) {
  const api = ask(client)
  let making: Promise<OwnKey> | undefined

  function ownKey() {
    making ??= makeKey().catch((error) => {
      making = undefined
      throw error
    })
    return making
  }

  async function makeKey(): Promise<OwnKey> {
    const { by } = await api.get<WhoAmI>('/whoami')
    const { secret, sent } = newSecret(BRAND.keyPrefix)
    // Ends the key of a console that was killed.
    const expiresAt = isoTime(Date.now() + 12 * HOUR_MS)
    const name = `playground of ${by}`.slice(0, 100)
    const { id } = await api.once<KeyShape>('/keys', { name, credits: '1', expires_at: expiresAt, ...sent })
    return { id, secret, expiresAt }
  }

  /** Asks with another key if the gateway refuses the first: it has expired, or was revoked. */
  async function asked(url: string, sent: RequestInit): Promise<Response> {
    const used = ownKey()
    const answer = await withSecret((await used).secret)
    if (answer.status !== 401) return answer
    await answer.body?.cancel()
    if (making === used) making = undefined
    return withSecret((await ownKey()).secret)

    function withSecret(secret: string): Promise<Response> {
      return fetch(url, { ...sent, headers: { Authorization: `Bearer ${secret}`, 'Content-Type': 'application/json' } })
    }
  }

  async function revoke({ id, expiresAt }: OwnKey): Promise<void> {
    try {
      const { name, status } = await api.get<KeyShape>(`/keys/${id}`)
      if (status !== 'revoked') await api.change('POST', `/keys/${id}/revoke`, { confirm: name })
    } catch (error) {
      if (error instanceof Refusal && error.code === 'key_revoked') return
      const why = (error as Error).message
      throw new CliError(`The playground’s key ${id} may not be revoked. It ends at ${expiresAt}. ${why}`)
    }
  }

  return {
    chat: (body: Uint8Array, signal: AbortSignal) =>
      asked(`${chatUrl}/v1/chat/completions`, { method: 'POST', body, signal }),
    async [Symbol.asyncDispose]() {
      const made = await making?.catch(() => undefined)
      if (made) await revoke(made)
    },
  }
}
