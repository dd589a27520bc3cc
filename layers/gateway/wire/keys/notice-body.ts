import { isoTime, ulidTimeMs } from '../../domain/basics/time.ts'
import { accountIdOf, isAccountId } from '../../domain/keys/key.ts'
import type { Notice, Owner } from '../../domain/keys/notice.ts'

export type NoticeBody = {
  readonly id: string
  readonly type: string
  readonly timestamp: string
  readonly data: Readonly<Record<string, unknown>>
}

/** A notice as it is told. It has no secret, nor a part or a hash of one. */
export function noticeBody({ id, what, facts }: Notice, owner: Owner, topUpUrl?: string): NoticeBody {
  const { id: ownerId, name, externalId } = owner
  const accountId = accountIdOf(owner)
  const names = isAccountId(ownerId)
    ? { account_id: ownerId, account_name: name }
    : { key_id: ownerId, key_name: name, ...(accountId && { account_id: accountId }) }
  const data = {
    ...names,
    external_id: externalId ?? null,
    ...facts,
    ...(topUpUrl && what.includes('balance') && { top_up_url: topUpUrl }),
  }
  return { id, type: what, timestamp: isoTime(ulidTimeMs(id)), data }
}
