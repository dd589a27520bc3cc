import { formatCredits, type Nano, parseCredits } from '../../layers/gateway/domain/money/money.ts'

/** The requests of a customer for one model, as they are charged. No cost to the operator is in it. */
export type InvoiceLine = {
  readonly model: string
  readonly requests: number
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly charged: string
}

export type InvoiceTotal = Omit<InvoiceLine, 'model'>

export type Invoice = {
  readonly key_id: string
  /** Null if the key is gone. */
  readonly name: string | null
  readonly external_id: string | null
  readonly lines: readonly InvoiceLine[]
  readonly total: InvoiceTotal
}

/** The invoices of a month. `problems`: the reasons not to send them. */
export type Invoices = {
  readonly object: 'invoices'
  readonly month: string
  /** The days that are in it, up to and including this one; null if no day of the month is closed. */
  readonly closed_through: string | null
  readonly problems: readonly string[]
  readonly data: readonly Invoice[]
  readonly total: InvoiceTotal
}

/** Requests that no model was asked for are free and on no invoice. */
export const NO_MODEL = '-'

export type Counted = {
  readonly requests: number
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly cost: string
}

/** Figures by model. */
export class ModelSums {
  readonly #sums = new Map<string, { requests: number; prompt: number; completion: number; charged: Nano }>()

  add(model: string, { requests, prompt_tokens, completion_tokens, cost }: Counted): void {
    const sum = this.#sums.get(model) ?? { requests: 0, prompt: 0, completion: 0, charged: 0n }
    this.#sums.set(model, sum)
    sum.requests += requests
    sum.prompt += prompt_tokens
    sum.completion += completion_tokens
    sum.charged += parseCredits(cost) ?? 0n
  }

  /** The models with a charge first, the dearest of them at the top. */
  lines(): InvoiceLine[] {
    return [...this.#sums]
      .sort(([a, one], [b, other]) =>
        one.charged === other.charged ? (a < b ? -1 : 1) : one.charged > other.charged ? -1 : 1,
      )
      .map(([model, { requests, prompt, completion, charged }]) => ({
        model,
        requests,
        prompt_tokens: prompt,
        completion_tokens: completion,
        charged: formatCredits(charged),
      }))
  }
}

export function totalOf(lines: readonly InvoiceTotal[]): InvoiceTotal {
  const sum = (of: (line: InvoiceTotal) => number) => lines.reduce((all, line) => all + of(line), 0)
  const charged = lines.reduce((all, line) => all + (parseCredits(line.charged) ?? 0n), 0n)
  return {
    requests: sum(({ requests }) => requests),
    prompt_tokens: sum(({ prompt_tokens }) => prompt_tokens),
    completion_tokens: sum(({ completion_tokens }) => completion_tokens),
    charged: formatCredits(charged),
  }
}

/** Two accounts of the same requests, compared to the last nanocredit; nothing if they agree. */
export function differenceOf(what: string, lines: readonly InvoiceLine[], others: readonly InvoiceLine[]): string[] {
  const texts = (all: readonly InvoiceLine[]) => new Map(all.map((line) => [line.model, textOf(line)]))
  const [ours, theirs] = [texts(lines), texts(others)]
  return [...new Set([...ours.keys(), ...theirs.keys()])]
    .filter((model) => ours.get(model) !== theirs.get(model))
    .map(
      (model) =>
        `${what}, ${model}: the totals of days have ${ours.get(model) ?? 'nothing'}, and the rows ${theirs.get(model) ?? 'nothing'}.`,
    )
}

export function textOf({ requests, prompt_tokens, completion_tokens, charged }: InvoiceTotal): string {
  return `${requests} requests, ${prompt_tokens} + ${completion_tokens} tokens, ${charged} credits`
}
