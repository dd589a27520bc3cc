import { validationError } from './failures.ts'

const TOKEN = /\s*(?:([A-Za-z_]\w*|\d+|#\w+|:\w+|<=|>=|<>|[=<>(),.+[\]-])|(\S))/y
const MOST_BYTES = 4_096

/** The words, numbers and signs of an expression. */
export function tokensOf(text: string): string[] {
  if (text.trim() === '') throw validationError('The expression can not be empty;')
  if (text.length > MOST_BYTES) throw validationError('Expression size has exceeded the maximum allowed size;')
  return Array.from(text.matchAll(new RegExp(TOKEN, 'gy')), ([, token, stray]) => {
    if (stray) throw validationError(`Syntax error; token: "${stray}"`)
    return token as string
  })
}
