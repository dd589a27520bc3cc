import type { Spoken } from './spoken.ts'

/** How a question is put: in which words, and for an answer in which form. */
export type Way = { readonly contract: Spoken; readonly stream: boolean }

const CHAT: readonly Way[] = [
  { contract: 'chat', stream: true },
  { contract: 'chat', stream: false },
]
const OTHERS: readonly Way[] = [
  { contract: 'responses', stream: true },
  { contract: 'messages', stream: false },
  { contract: 'messages', stream: true },
  { contract: 'responses', stream: false },
]

// The other contracts take turns: each fault is met by one of them. By all of them: FAULT_CONTRACTS=all, as in test:long.
const isAll = process.env.FAULT_CONTRACTS === 'all'
let turn = 0

/** Both ways of chat, and whose turn it is of the others. */
export function waysInTurn(): readonly Way[] {
  const others = isAll ? OTHERS : OTHERS.slice(turn % OTHERS.length, (turn % OTHERS.length) + 1)
  turn += 1
  return [...CHAT, ...others]
}
