import { randomBytes } from 'node:crypto'
import { ulid } from '../../gateway/domain/ulid.ts'

/** The name of a call to the admin API, which its answer and the log have. */
export function adminRequestId(nowMs: number, random: (bytes: number) => Uint8Array = randomBytes): string {
  return `adm_${ulid(nowMs, random(10))}`
}
