import { readTokenizerFunction } from '../../layers/gateway/config.ts'
import { invokeTokenizer } from '../chat/invoke-tokenizer.ts'
import { openInstance } from '../instance.ts'
import { createQuote } from './create.ts'

export const handler = createQuote(openInstance(), invokeTokenizer(readTokenizerFunction()))
