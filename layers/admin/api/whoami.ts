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
    // From elsewhere, only the gateway knows by which address it is reached.
    address: echoUrl === undefined ? null : '127.0.0.1',
  }
  return { body }
}
