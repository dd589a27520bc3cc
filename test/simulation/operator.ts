import { BRAND } from '../../layers/gateway/contract.ts'
import { issueSecret } from '../../layers/gateway/domain/new-key.ts'
import { ulid } from '../../layers/gateway/domain/ulid.ts'
import { endGrace } from '../../layers/gateway/store/keys/end-grace.ts'
import { grantCredits } from '../../layers/gateway/store/keys/grant-credits.ts'
import { revokeKey } from '../../layers/gateway/store/keys/revoke-key.ts'
import { rotateKey } from '../../layers/gateway/store/keys/rotate-key.ts'
import { updateKey } from '../../layers/gateway/store/keys/update-key.ts'
import type { OperatorTables } from '../../layers/gateway/store/operator-tables.ts'
import type { KeyLimits, Step } from './history.ts'
import type { Random } from './random.ts'

/** A secret has ended when the operator has been told so. */
export type Issued = { readonly text: string; readonly hash: string; ended: boolean }
export type Account = { readonly keyId: string; readonly secrets: Issued[] }

const LIMITS: Readonly<Record<keyof KeyLimits, readonly number[]>> = {
  rpm: [1, 5, 600],
  dailyLimit: [1, 20],
  maxConcurrent: [1, 3],
}
const CHANGES = Object.entries(LIMITS).flatMap(([name, values]) => values.map((value) => ({ [name]: value })))

export async function operate(
  tables: OperatorTables,
  account: Account,
  { operation, value }: Extract<Step, { do: 'operate' }>,
  nowMs: number,
  random: Random,
): Promise<void> {
  const { keyId, secrets } = account
  const before = [...secrets]
  switch (operation) {
    case 'grant': {
      const grant = { id: ulid(nowMs, random.bytes(10)), by: 'simulation' }
      await grantCredits(tables)(keyId, BigInt(1 + value) * 1_000n, grant, nowMs)
      return
    }
    case 'limits':
      await updateKey(tables)(keyId, CHANGES[value % CHANGES.length] ?? {})
      return
    case 'end grace':
      return endAllBut(before, await endGrace(tables)(keyId))
    case 'revoke':
      return endAllBut(before, await revokeKey(tables)(keyId, nowMs))
    case 'rotate': {
      const { secret, stored } = issueSecret(BRAND.keyPrefix, (bytes) => random.bytes(bytes))
      const result = await rotateKey(tables)(keyId, stored, nowMs)
      if (result.changed) secrets.push({ text: secret, hash: stored.hash, ended: false })
      return endAllBut(before, result)
    }
  }
}

type Result = Awaited<ReturnType<ReturnType<typeof revokeKey>>>

/** Secrets issued before a change have ended if the key, as the change left it, does not know them any more. */
function endAllBut(secrets: Issued[], result: Result): void {
  if (!result.changed) return
  const { status, current, previous } = result.key
  const known = status === 'active' ? [current.hash, previous?.hash] : []
  for (const secret of secrets) if (!known.includes(secret.hash)) secret.ended = true
}
