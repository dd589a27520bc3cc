import { randomBytes } from 'node:crypto'
import { ulid } from '../../gateway/domain/ulid.ts'

/** The id of a call to the admin API, in its answer and in the log. */
export function adminRequestId(nowMs: number, random: (bytes: number) => Uint8Array = randomBytes): string {
  return `adm_${ulid(nowMs, random(10))}`
}
