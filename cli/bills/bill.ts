import type { BillForm } from '../reading/known-providers.ts'

/** A line of a provider's bill, of one UTC day. */
export type BillLine = {
  readonly day: string
  /** As the bill names it: a model, or something else that was billed; undefined if the bill does not say. */
  readonly model: string | undefined
  /** In attocredits (18 decimals), so that lines with a float's digits add up; a credit is a US dollar. Credits of the provider are negative. */
  readonly atto: bigint
}

export type Bill = {
  readonly form: BillForm
  readonly lines: readonly BillLine[]
  /** Of a form that has every day, also one without a cost: the days that it has. */
  readonly days?: readonly string[]
  /** Lines that are no usage of models, for the person who wonders where they are. */
  readonly leftOut: number
}
