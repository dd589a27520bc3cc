import { Tiktoken } from 'js-tiktoken/lite'
import o200k from 'js-tiktoken/ranks/o200k_base'
import { sampleText } from './sample-text.ts'

// Importing this file takes about a second and 270 MB: only an estimate pays for it.
const encoding = new Tiktoken(o200k)

// Runs that the encoding's pattern keeps whole, and whose merging takes time quadratic in their bytes. They are cut:
// ASCII after 64 characters, other scripts (two to four bytes a character) after 32.
const LONG_RUN = /[^\p{ASCII}]{33,}|[\p{L}\p{M}]{65,}|[^\s\p{L}\p{N}]{65,}|[\s/]{65,}/gu
const ASCII_CUT = 64
const OTHER_CUT = 32

export function countTokens(text: string, random: () => number = Math.random): number {
  const { pieces, scale } = sampleText(text, random)
  return scale(pieces.map(countWhole))
}

function countWhole(text: string): number {
  let tokens = 0
  for (const piece of cutLongRuns(text)) tokens += encoding.encode(piece, [], []).length
  return tokens
}

function* cutLongRuns(text: string): Generator<string, void, undefined> {
  let from = 0
  for (const { 0: run, index } of text.matchAll(LONG_RUN)) {
    yield text.slice(from, index)
    const cut = run.charCodeAt(0) < 128 ? ASCII_CUT : OTHER_CUT
    for (let at = 0; at < run.length; at += cut) yield run.slice(at, at + cut)
    from = index + run.length
  }
  yield text.slice(from)
}
