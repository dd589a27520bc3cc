import type { IMetric } from 'aws-cdk-lib/aws-cloudwatch'
import type { Stage } from '../stages.ts'

/** The words of an alarm. docs/operate.md has a copy of each, which a test compares. */
export type Words = {
  /** The fault, without a full stop. */
  readonly says: string
  /** The first things to do about it. */
  readonly remedy: string
}

export type Rule = Words & {
  readonly metric: IMetric
  /** The value from which on the alarm goes off. */
  readonly from: number
  /** How many of the last three periods of its metric, five minutes mostly, must be above it; with 1, it goes off at once. */
  readonly periods: 1 | 2 | 3
  readonly isBadIfMissing?: true
  /** For a percentile: no change of state by fewer requests than it needs to mean something. */
  readonly ignoresFew?: true
}

/** By the name of the alarm. */
export type Rules = Readonly<Record<string, Rule>>

/** The text for a person who is called up: the fault, the remedy, and the address of its line in the runbook. */
export function describe({ name: stage }: Stage, name: string, words: Words): string {
  return [`Waybill ${stage}: ${words.says}.`, words.remedy, `docs/operate.md#alarm-${name.toLowerCase()}`].join('\n')
}
