import { AdminError } from '../../layers/admin/api/admin-error.ts'
import type { Identity } from '../../layers/admin/api/call.ts'
import { mayComeFrom } from '../../layers/gateway/domain/keys/admin-key.ts'
import { OPERATOR_SCOPES } from '../../layers/gateway/domain/keys/admin-scopes.ts'
import { standingOf } from '../../layers/gateway/domain/keys/key.ts'
import { hashSecret } from '../../layers/gateway/domain/keys/secret.ts'
import { isSecret } from '../../layers/gateway/domain/keys/secret-text.ts'
import { BRAND } from '../../layers/gateway/names.ts'
import { findAdminKey } from '../../layers/gateway/store/admin-keys/admin-keys.ts'
import { allowanceAt } from '../../layers/gateway/store/admin-keys/allowance.ts'
import type { Tables } from '../../layers/gateway/store/dynamodb/database.ts'

/** API Gateway's event (an HTTP API, version 2.0), as far as it is read. */
export type AdminEvent = {
  readonly rawPath: string
  readonly rawQueryString?: string
  /** Names are in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body?: string
  readonly isBase64Encoded?: boolean
  readonly requestContext: {
    readonly http: { readonly method: string; readonly sourceIp: string }
    /** Set by API Gateway, and only if AWS has checked the signature. */
    readonly authorizer?: { readonly iam?: { readonly userArn?: string } }
  }
}

/** A caller whom AWS has identified. IAM policies have decided already which routes it may call. */
export function signedCaller({ requestContext }: AdminEvent): Identity {
  const arn = requestContext.authorizer?.iam?.userArn
  if (!arn) throw new AdminError('access_denied', 'AWS has not authenticated this call: sign it.')
  return { by: async () => arn, scopes: OPERATOR_SCOPES }
}

/** The key is read at every call: a revocation holds from the next on. AWS's word about the caller counts for nothing. */
export function keyedCaller(tables: Tables): (event: AdminEvent, nowMs: number) => Promise<Identity> {
  const find = findAdminKey(tables)
  return async ({ headers, requestContext }, nowMs) => {
    const secret = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1]
    if (secret === undefined || !isSecret(BRAND.adminKeyPrefix, secret)) throw invalidKey()
    const hash = hashSecret(secret)
    const key = await find(hash)
    if (!key || !['current', 'grace'].includes(standingOf(key, hash, nowMs))) throw invalidKey()
    const { sourceIp } = requestContext.http
    if (!mayComeFrom(key, sourceIp)) {
      throw new AdminError('ip_not_allowed', `This admin key may not be used from the address ${sourceIp}.`)
    }
    return { by: async () => key.id, scopes: key.scopes, allowance: allowanceAt(key, nowMs), isAdminKey: true }
  }
}

/** One answer for malformed, unknown and revoked keys, so that it tells a stranger nothing. */
function invalidKey(): AdminError {
  return new AdminError(
    'invalid_admin_key',
    `This needs the header 'Authorization: Bearer ${BRAND.adminKeyPrefix}…' with an admin key that is valid.`,
  )
}
