import type { Random } from '../../simulation/random.ts'

/** An answer of a provider, apart from its dialect. It bills `bill`, whatever it says. */
export type Lie = {
  readonly content:
    | 'text'
    | 'nothing'
    | 'deep'
    | 'long event'
    | 'garbage'
    | 'empty parts'
    | 'no choices'
    | 'beyond its cap'
  /** When and how its usage is told. */
  readonly usage: 'last' | 'first' | 'twice, falling' | 'in two halves' | 'none' | 'zero' | 'behind all'
  readonly stop: string
  readonly end: 'whole' | 'broken off' | 'an error' | 'silence'
  readonly bill: { readonly prompt: number; readonly completion: number }
}

const CONTENTS: readonly Lie['content'][] = [
  ...(['text', 'text', 'text', 'nothing', 'deep', 'deep', 'long event'] as const),
  ...(['garbage', 'empty parts', 'no choices', 'beyond its cap'] as const),
]
const USAGES: readonly Lie['usage'][] = [
  ...(['last', 'last', 'last', 'first', 'twice, falling', 'in two halves', 'none', 'zero', 'behind all'] as const),
]
const STOPS = ['stop', 'end_turn', 'malformed_tool_use', 'SAFETY', 'error', 'a word that no one knows', '']
const ENDS: readonly Lie['end'][] = ['whole', 'whole', 'whole', 'broken off', 'an error', 'silence']

export const CAP = 100
/** The least bill of a provider that tells no usage. */
export const UNTOLD = { prompt: 6, completion: 0 }

export function randomLie(random: Random): Lie {
  const [content, usage, stop, end] = [
    random.pick(CONTENTS),
    random.pick(USAGES),
    random.pick(STOPS),
    random.pick(ENDS),
  ]
  const isTold = usage !== 'none' && usage !== 'zero'
  const bill = isTold ? { prompt: 6 + random.below(4), completion: 1 + random.below(CAP) } : UNTOLD
  return { content, usage, stop, end, bill }
}

/** JSON nested deeper than is read, and longer than is not looked at. */
export const DEEP = `${'{"a":['.repeat(60)}"${'x'.repeat(5_000)}"${']}'.repeat(60)}`
export const LONG = 'y'.repeat(9 * 1024 * 1024)
export const WORDS = ' word'.repeat(CAP * 4)

/** The usages that are told before the content, and after it. */
export function usagesOf<Usage>({ usage, bill }: Lie, of: (prompt?: number, completion?: number) => Usage) {
  const all = of(bill.prompt, bill.completion)
  const told: Record<Lie['usage'], readonly [readonly Usage[], readonly Usage[]]> = {
    last: [[], [all]],
    first: [[all], []],
    'twice, falling': [[], [all, of(1, 1)]],
    'in two halves': [[of(bill.prompt)], [of(undefined, bill.completion)]],
    none: [[], []],
    zero: [[], [of(0, 0)]],
    'behind all': [[], [all]],
  }
  const [before, after] = told[usage]
  return { before, after }
}
