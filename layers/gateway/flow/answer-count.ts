import { contractOf } from '../contracts/contracts.ts'
import type { AdmittedChat } from '../request.ts'
import type { ChatDeps } from './chat-deps.ts'
import { countPrompt } from './count-prompt.ts'
import { tooManyCounts } from './token-queue.ts'
import { toGatewayError } from './upstream-error.ts'

/** The most counts of one key at once, with its other requests that hold no credits, on all instances. */
const MOST_AT_ONCE = 4

/** The answer to a request for the number of its tokens. No model is asked, and nothing is charged. */
export async function answerCount(deps: ChatDeps, request: AdmittedChat): Promise<string> {
  if ((request.freeUnderWay ?? 0) > MOST_AT_ONCE) throw tooManyCounts()
  try {
    const text = JSON.stringify(contractOf(request.endpoint).countBody?.(await countPrompt(deps, request)))
    if (request.claim) await deps.vault.keep(request, text)
    return text
  } catch (error) {
    throw toGatewayError(error)
  }
}
