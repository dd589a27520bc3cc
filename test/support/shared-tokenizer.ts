import { openTokenizerThread, type TokenizerThread } from '../../local/tokenizer-thread.ts'

type Shared = { readonly thread: TokenizerThread; users: number }
let shared: Shared | undefined

/** The tokenizer's thread, which takes a second to load: all gateways that are open at a time in one file have one. */
export function shareTokenizer(): TokenizerThread {
  const mine: Shared = shared ?? { thread: openTokenizerThread(), users: 0 }
  shared = mine
  mine.users += 1
  return {
    countTokens: mine.thread.countTokens,
    async [Symbol.asyncDispose]() {
      mine.users -= 1
      if (mine.users > 0) return
      if (shared === mine) shared = undefined
      await mine.thread[Symbol.asyncDispose]()
    },
  }
}
