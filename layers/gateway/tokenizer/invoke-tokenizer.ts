import type { TokenAnswer, TokenQuestion } from '../../tokenizer/answer-question.ts'
import { openSignedPost, type SignedPost, type SignedReply, Unreachable } from '../aws/signed-post.ts'
import type { CountTokens } from '../flow/count-texts.ts'
import { retry } from '../retry.ts'

/** A cold start of the tokenizer takes two seconds. */
const MOST_MS = 5_000
const PAUSE_MS = 100

/** Where Lambda's API is asked to invoke a function and to wait for its answer. */
export function tokenizerPost(functionName: string): SignedPost {
  const path = `/2015-03-31/functions/${functionName}/invocations`
  return openSignedPost({ service: 'lambda', variable: 'LAMBDA', path })
}

/** Asks the function that has the tokenizer. No error has anything of the texts. */
export function invokeTokenizer(post: SignedPost): CountTokens {
  return async (texts, withinMs) => {
    const endsAtMs = performance.now() + Math.min(MOST_MS, withinMs)
    // A character that the sampling cut in half is no valid Unicode; its half counts as the sign for that.
    const question: TokenQuestion = { texts: texts.map((text) => text.toWellFormed()) }
    const body = JSON.stringify(question)
    let attempt = 0
    const ask = async () => accepted(await post(body, endsAtMs - performance.now(), attempt++ > 0))
    // Counting is harmless to repeat.
    const when = (error: unknown, pauseMs: number) =>
      error instanceof Unreachable && performance.now() + pauseMs < endsAtMs
    return readTokens(await retry(ask, { when, pauseMs: () => PAUSE_MS, tries: 2 }))
  }
}

function accepted({ status, errorType, text }: SignedReply): string {
  if (status === 200) return text
  const what = `lambda: the status ${status}${errorType ? ` (${errorType})` : ''}.`
  throw status === 429 || status >= 500 ? new Unreachable(what) : new Error(what)
}

/** The answer of a function that failed has an error in place of counts. */
function readTokens(text: string): readonly number[] {
  try {
    const { tokens } = JSON.parse(text) as Partial<TokenAnswer>
    if (Array.isArray(tokens)) return tokens
  } catch {}
  throw new Error('The tokenizer function failed, or answered with something else than counts.')
}
