import { whyNoAccess } from '../domain/admission/access.ts'
import { GatewayError } from '../domain/basics/gateway-error.ts'
import type { Key } from '../domain/keys/key.ts'
import { hashSecret } from '../domain/keys/secret.ts'
import { isSecret } from '../domain/keys/secret-text.ts'
import { needsCatalog } from '../endpoints.ts'
import { type KeyCache, requireAccess, secretOf } from '../flow/admission/credential.ts'
import type { Credential, GatewayEvent, IdentifiedRequest, OpenedRequest } from '../flow/request.ts'
import type { FindKeyId, ReadKey } from '../store/keys/read-key.ts'
import { invalidKey, keyRefusal } from '../wire/keys/key-refusals.ts'
import { noEndpoint } from '../wire/requests/find-route.ts'
import type { Gate } from './gate.ts'

type IdentifyDeps = {
  readonly findKeyId: FindKeyId
  readonly readKey: ReadKey
  /** An instance keeps to one of the lanes of a key, so that its copy stays current. */
  readonly pickLane: (first: Key) => Promise<Key>
  readonly cache: KeyCache
  readonly keyPrefix: string
  /** Starts to read the catalog in parallel to the key's own reads, and not for a malformed key. */
  readonly prefetch: () => void
}

/** Finds the key of a call. A stranger is told first if the path is wrong: an SDK with a wrong base URL shows it. */
export function identify(deps: IdentifyDeps): Gate {
  const { findKeyId, readKey, pickLane, cache, keyPrefix, prefetch } = deps
  return (request, event) => {
    const secret = secretOf(event)
    if (secret === undefined || !isSecret(keyPrefix, secret)) return refuse(request, event, notAKey(event))
    if (needsCatalog(request.endpoint)) prefetch()
    const hash = hashSecret(secret)
    // A known copy may be stale in either direction; admission proves it.
    const key = cache.get(hash)
    return key ? setCredential(request, { hash, key, cached: true }) : find(request, event, hash)
  }

  async function find(request: OpenedRequest, event: GatewayEvent, hash: string): Promise<void> {
    const keyId = await findKeyId(hash)
    const key = keyId === undefined ? undefined : await readKey(keyId)
    const refusal = keyRefusal(key, hash, request.nowMs)
    if (!key || refusal) return refuse(request, event, refusal ?? invalidKey())
    setCredential(request, { hash, key: key.lane ? await pickLane(key) : key, cached: false })
  }
}

function setCredential(request: OpenedRequest, credential: Credential): void {
  Object.assign(request, { credential })
}

async function refuse({ isNowhere }: OpenedRequest, event: GatewayEvent, refusal: GatewayError): Promise<void> {
  throw isNowhere ? await noEndpoint(event.requestContext.http.method, event.rawPath) : refusal
}

function notAKey(event: GatewayEvent): GatewayError {
  const header = event.headers.authorization
  if (header === undefined ? event.headers['x-api-key'] : /^Bearer +\S/i.test(header)) return invalidKey()
  return new GatewayError(
    'invalid_api_key',
    "You didn't provide an API key. Send yours in the header 'Authorization: Bearer <key>'.",
  )
}

/** Checks scope and address. No write proves a cached copy here, so the key is read again before a refusal. */
export function authorize({ readKey, cache }: Pick<IdentifyDeps, 'readKey' | 'cache'>): Gate<IdentifiedRequest> {
  return (request) => {
    const { key } = request.credential
    return whyNoAccess(key, request.endpoint.scope, request.sourceIp) ? lookAgain(request) : undefined
  }

  async function lookAgain(request: IdentifiedRequest): Promise<void> {
    const { credential } = request
    const key = credential.cached ? await readKey(credential.key.address) : credential.key
    const refusal = keyRefusal(key, credential.hash, request.nowMs)
    if (!key || refusal) {
      cache.drop(credential.hash)
      throw refusal ?? invalidKey()
    }
    request.credential = { ...credential, key, cached: false }
    requireAccess(request)
  }
}
