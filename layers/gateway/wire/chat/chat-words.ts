import { badRequest } from '../../domain/basics/gateway-error.ts'

/**
 * Refuses fields of Chat Completions by which chat holds more, such as `n`, in a contract that does not read them: its
 * inner form would carry them to a provider, which would bill for them.
 */
export function refuseChatWords(body: Readonly<Record<string, unknown>>, words: readonly string[]): void {
  const word = words.find((name) => body[name] !== undefined && body[name] !== null)
  if (word === undefined) return
  throw badRequest('unknown_parameter', `There is no '${word}' here: it is a field of /v1/chat/completions.`, word)
}
