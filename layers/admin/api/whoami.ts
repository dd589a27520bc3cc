import type { Answer, Call } from './call.ts'
import type { WhoAmI } from './shapes/answers.ts'

export async function whoAmI({ identity, stage, isProtected, chatUrl, echoUrl }: Call): Promise<Answer> {
  const body: WhoAmI = {
    object: 'identity',
    by: await identity.by(),
    stage,
    protected: isProtected,
    scopes: identity.scopes,
    base_url: `${chatUrl}/v1`,
    // For other gateways, only the gateway knows the address by which it is reached.
    address: echoUrl === undefined ? null : '127.0.0.1',
  }
  return { body }
}
