import { invokeTokenizer } from '../../layers/gateway/aws/invoke-tokenizer.ts'
import { readTokenizerFunction } from '../../layers/gateway/config.ts'
import { openInstance } from '../instance.ts'
import { createChat } from './create.ts'

export const handler = createChat(openInstance(), { countTokens: invokeTokenizer(readTokenizerFunction()) })
