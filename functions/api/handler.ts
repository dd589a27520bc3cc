import { readTokenizerFunction } from '../../layers/gateway/platform/config.ts'
import { openInstance } from '../instance.ts'
import { invokeTokenizer } from '../invoke-tokenizer.ts'
import { createApi } from './create.ts'

export const handler = createApi(openInstance(), invokeTokenizer(readTokenizerFunction()))
