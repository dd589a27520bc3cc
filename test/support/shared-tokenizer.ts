import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import type { CountTokens } from '../../layers/gateway/flow/billing/count-texts.ts'
import type { TokenQuestion } from '../../layers/tokenizer/answer-question.ts'
import { openTokenizerThread } from '../../local/tokenizer-thread.ts'
import { listen } from './listen.ts'

const MOST_MS = 30_000

/** The tokenizer's thread, which takes a second to load, for all test files: they ask it at this address. */
export async function startSharedTokenizer(stack: AsyncDisposableStack): Promise<string> {
  const tokenizer = stack.use(openTokenizerThread())
  const server = createServer(async (request, response) => {
    const { texts } = (await json(request)) as TokenQuestion
    response.end(JSON.stringify(await tokenizer.countTokens(texts, MOST_MS)))
  })
  return stack.use(await listen(server)).url
}

export const sharedTokenizer: CountTokens = async (texts, withinMs) => {
  const body = JSON.stringify({ texts } satisfies TokenQuestion)
  const signal = AbortSignal.timeout(Math.ceil(withinMs))
  const answer = await fetch(process.env.TEST_TOKENIZER ?? '', { method: 'POST', body, signal })
  return (await answer.json()) as readonly number[]
}
