import { formatPerToken, type Price } from '../domain/price.ts'

/** Credits per token, under OpenRouter's names. */
export function pricing({ inputPico, outputPico, cachedInputPico }: Price) {
  return {
    prompt: formatPerToken(inputPico),
    completion: formatPerToken(outputPico),
    input_cache_read: formatPerToken(cachedInputPico),
  }
}
