import { randomBytes } from 'node:crypto'
import { issueSecret } from '../../layers/gateway/domain/keys/new-key.ts'
import { printJson } from '../../layers/terminal/output.ts'
import { OutcomeUnknown } from '../admin-client/refusal.ts'
import type { Session } from './open-session.ts'

/** A new secret, and the part of it that is sent: its hash and its end. */
export function newSecret(prefix: string) {
  const { secret, stored } = issueSecret(prefix, randomBytes)
  return { secret, sent: { secret_sha256: stored.hash, last_four: stored.lastFour } }
}

type NewSecret<Key> = {
  readonly prefix: string
  readonly id?: string
  /** Makes the key, or rotates it. Only the hash and the end of its secret are sent. */
  readonly save: (sent: ReturnType<typeof newSecret>['sent']) => Promise<Key>
  readonly show: (key: Key) => void
  readonly look: string
  /** The remedy if the secret turns out not to be saved. */
  readonly otherwise: string
}

const ONLY_TIME = 'This is the only time the secret is shown. Keep it safe.'

/** A secret whose outcome is unknown is shown, too: it may be the only one that works, and nothing else can show it. */
export async function showNewSecret<Key>(session: Session, asked: NewSecret<Key>): Promise<void> {
  const { out, json, fail } = session
  const { secret, sent } = newSecret(asked.prefix)
  try {
    const key = await asked.save(sent)
    if (json) return printJson(out, { ...key, secret })
    asked.show(key)
    out.log(`\n${secret}\n\n${ONLY_TIME}`)
  } catch (error) {
    if (!(error instanceof OutcomeUnknown)) throw error
    fail()
    if (json) return printJson(out, { id: asked.id, last_four: sent.last_four, secret, saved: 'unknown' })
    out.log(
      `${secret}\n\nIt is not known whether this was saved (${error.reason}): try it, or look with '${asked.look}' whether the key ends in …${sent.last_four}; if not, ${asked.otherwise}. ${ONLY_TIME}`,
    )
  }
}
