import type { CountTokens } from '../layers/gateway/flow/billing/count-texts.ts'
import { openService } from '../layers/gateway/platform/aws/service.ts'
import { ServiceError } from '../layers/gateway/platform/aws/service-error.ts'
import type { TokenQuestion } from '../layers/tokenizer/answer-question.ts'

/** A cold start of the tokenizer takes about two seconds of it. */
const MOST_MS = 5_000

/** Calls the function that has the tokenizer. No error contains any of the texts. */
export function invokeTokenizer(functionName: string): CountTokens {
  const call = openService({
    name: 'lambda',
    variable: 'LAMBDA',
    path: `/2015-03-31/functions/${functionName}/invocations`,
    contentType: 'application/json',
    timeouts: { connectMs: 1_000, answerMs: MOST_MS },
  })
  return async (texts, withinMs) => {
    // A character that the sampling cut in half is no valid Unicode; its half counts as a replacement character.
    const question: TokenQuestion = { texts: texts.map((text) => text.toWellFormed()) }
    const signal = AbortSignal.timeout(Math.round(Math.min(MOST_MS, withinMs)))
    // Counting is harmless to repeat.
    const answering = call('Invoke', JSON.stringify(question), { attempts: 2, signal })
    const { tokens } = await answering.catch((error) => {
      throw signal.aborted ? new Error('The tokenizer function did not answer in time.') : withoutWords(error)
    })
    if (!Array.isArray(tokens)) throw new Error('The tokenizer function failed, or answered without counts.')
    return tokens
  }
}

/** A refusal may quote the text that was refused. */
function withoutWords(error: unknown): unknown {
  if (!(error instanceof ServiceError)) return error
  const { name, code } = error
  return new Error(`The tokenizer function could not be invoked: ${code ? `${name} (${code})` : name}.`)
}
