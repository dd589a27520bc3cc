import { readMemoryMb, readTokenizerFunction } from '../../layers/gateway/config.ts'
import { openInstance } from '../instance.ts'
import { createChat } from './create.ts'
import { invokeTokenizer } from './invoke-tokenizer.ts'
import { smallHeap } from './small-heap.ts'

export const handler = createChat(openInstance(), {
  countTokens: invokeTokenizer(readTokenizerFunction()),
  collectGarbage: smallHeap(readMemoryMb()),
})
