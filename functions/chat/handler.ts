import { readMemoryMb, readTokenizerFunction } from '../../layers/gateway/config.ts'
import { openInstance } from '../instance.ts'
import { garbageCollector } from './collect-garbage.ts'
import { createChat } from './create.ts'
import { invokeTokenizer } from './invoke-tokenizer.ts'

export const handler = createChat(openInstance(), {
  countTokens: invokeTokenizer(readTokenizerFunction()),
  collectGarbage: garbageCollector(readMemoryMb()),
})
