import { formatPerToken, type Price } from '../domain/price.ts'

/** Credits for one token, one request and one image, under OpenRouter's names; what has no price of its own is left out. */
export function pricing({ inputPico, outputPico, cachedInputPico, cacheWritePico, requestPico, imagePico }: Price) {
  return {
    prompt: formatPerToken(inputPico),
    completion: formatPerToken(outputPico),
    input_cache_read: formatPerToken(cachedInputPico),
    ...(cacheWritePico !== inputPico && { input_cache_write: formatPerToken(cacheWritePico) }),
    ...(requestPico > 0n && { request: formatPerToken(requestPico) }),
    ...(imagePico > 0n && { image: formatPerToken(imagePico) }),
  }
}
