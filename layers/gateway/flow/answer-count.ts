import { contractOf } from '../contracts/contracts.ts'
import type { AdmittedChat } from '../request.ts'
import type { ChatDeps } from './chat-deps.ts'
import { countPrompt } from './count-prompt.ts'
import { toGatewayError } from './upstream-error.ts'

/** The answer to a request that asks how many tokens it would have. No model is asked, and nothing is charged. */
export async function answerCount(deps: ChatDeps, request: AdmittedChat): Promise<string> {
  try {
    const text = JSON.stringify(contractOf(request.endpoint).countBody?.(await countPrompt(deps, request)))
    if (request.claim) await deps.vault.keep(request, text)
    return text
  } catch (error) {
    throw toGatewayError(error)
  }
}
