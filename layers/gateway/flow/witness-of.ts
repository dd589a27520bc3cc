import { hash } from 'node:crypto'
import type { AdmittedChat } from '../request.ts'
import type { Witness } from './route-health.ts'

/** Identifies a request as the witness of its route's failures, made once: its body may be long. */
export function witnessOf({
  credential,
  priced,
  journey,
}: Pick<AdmittedChat, 'credential' | 'priced' | 'journey'>): Witness {
  journey.witness ??= { keyId: credential.key.id, body: hash('sha1', JSON.stringify(priced.chat.body), 'base64') }
  return journey.witness
}
