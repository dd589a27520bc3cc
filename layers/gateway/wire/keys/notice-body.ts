import { isoTime } from '../../domain/basics/time.ts'
import { ulidTimeMs } from '../../domain/basics/ulid.ts'
import type { Key } from '../../domain/keys/key.ts'
import type { Notice } from '../../domain/keys/notice.ts'

export type NoticeBody = {
  readonly id: string
  readonly type: string
  readonly timestamp: string
  readonly data: Readonly<Record<string, unknown>>
}

/** A notice as it is told. It has no secret, nor a part or a hash of one. */
export function noticeBody({ id, what, facts }: Notice, { id: keyId, name, externalId }: Key): NoticeBody {
  const data = { key_id: keyId, key_name: name, external_id: externalId ?? null, ...facts }
  return { id, type: what, timestamp: isoTime(ulidTimeMs(id)), data }
}
