import { whyNoAccess } from '../domain/admission/access.ts'
import { type KeyCache, requireAccess } from '../flow/admission/credential.ts'
import type { IdentifiedRequest } from '../flow/request.ts'
import type { ReadKey } from '../store/keys/read-key.ts'
import { invalidKey, keyRefusal } from '../wire/keys/key-refusals.ts'
import type { Gate } from './gate.ts'

type AuthorizeDeps = {
  readonly readKey: ReadKey
  readonly cache: KeyCache
}

/** Checks scope and address. No write proves a cached copy here, so the key is read again before a refusal. */
export function authorize({ readKey, cache }: AuthorizeDeps): Gate<IdentifiedRequest> {
  return (request) => {
    const { key } = request.credential
    return whyNoAccess(key, request.endpoint.scope, request.sourceIp) ? lookAgain(request) : undefined
  }

  async function lookAgain(request: IdentifiedRequest): Promise<void> {
    const { credential } = request
    const key = credential.cached ? await readKey(credential.key.id) : credential.key
    const refusal = keyRefusal(key, credential.hash, request.nowMs)
    if (!key || refusal) {
      cache.drop(credential.hash)
      throw refusal ?? invalidKey()
    }
    request.credential = { ...credential, key, cached: false }
    requireAccess(request)
  }
}
