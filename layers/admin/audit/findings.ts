import { formatCredits, type Nano } from '../../gateway/domain/money/money.ts'

export type Finding = {
  readonly requestId?: string
  readonly what: string
  readonly expected?: Nano | string
  readonly got?: Nano | string | number | undefined
  readonly advice?: string
  /** Worth knowing, but no fault. */
  readonly note?: true
}

/** An audit as the API tells it, but for its findings, which are not in words yet. */
export type InFindings<Audit> = Omit<Audit, 'findings'> & { readonly findings: readonly Finding[] }

const MOST_KEPT = 100

export class Findings {
  readonly kept: Finding[]
  omitted: number
  wrong: number

  constructor(begun: Pick<Findings, 'kept' | 'omitted' | 'wrong'> = { kept: [], omitted: 0, wrong: 0 }) {
    this.kept = [...begun.kept]
    this.omitted = begun.omitted
    this.wrong = begun.wrong
  }

  add(...findings: readonly (Finding | false)[]): void {
    for (const finding of findings) {
      if (!finding) continue
      if (!finding.note) this.wrong += 1
      if (this.kept.length < MOST_KEPT) this.kept.push(finding)
      else this.omitted += 1
    }
  }
}

export function findingText({ requestId, what, expected, got, advice, note }: Finding, owner: string) {
  const about = requestId ?? `the ${owner}`
  const compared = expected === undefined ? '' : `: expected ${textOf(expected)}, got ${textOf(got)}`
  const sentence = `${what}${compared}.`
  return { about, text: advice ? `${sentence} ${advice}` : sentence, note: note === true }
}

function textOf(value: Finding['got']): string {
  return typeof value === 'bigint' ? formatCredits(value) : String(value)
}
