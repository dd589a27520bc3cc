import { readTokenizerFunction } from '../../layers/gateway/config.ts'
import { invokeTokenizer, tokenizerPost } from '../../layers/gateway/tokenizer/invoke-tokenizer.ts'
import { openInstance } from '../instance.ts'
import { createChat } from './create.ts'

const countTokens = invokeTokenizer(tokenizerPost(readTokenizerFunction()))

export const handler = createChat(openInstance(), { countTokens })
