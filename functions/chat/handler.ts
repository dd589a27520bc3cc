import { readMemoryMb, readTokenizerFunction } from '../../layers/gateway/platform/config.ts'
import { openInstance } from '../instance.ts'
import { invokeTokenizer } from '../invoke-tokenizer.ts'
import { createChat } from './create.ts'
import { heapLimiter } from './heap-limiter.ts'

export const handler = createChat(openInstance(), {
  countTokens: invokeTokenizer(readTokenizerFunction()),
  limitHeap: heapLimiter(readMemoryMb()),
})
