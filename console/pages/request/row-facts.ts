import type { RequestShape } from '../../../layers/admin/api/shapes/requests.ts'

/** An old or damaged row may lack any field. */
export type RowFacts = NonNullable<RequestShape['row']>

/** The time in which the answer was written begins with its first token. */
export function tokensPerSecond({ completion_tokens, ttft_ms, duration_ms }: RowFacts): number | undefined {
  const ms = (duration_ms ?? 0) - (ttft_ms ?? 0)
  return completion_tokens && ms > 0 ? (completion_tokens * 1000) / ms : undefined
}

const PRIVATE = /^(cost us|provider cost|margin|loss|stop reason|provider said)$/

export function customerText({ explanation }: RequestShape): string {
  const lines = explanation
    .filter(({ name }) => !PRIVATE.test(name))
    .flatMap(({ name, lines }) => lines.map((line, i) => `${(i === 0 ? name : '').padEnd(14)}${line}`))
  return `${lines.join('\n')}\n`
}

export function explained({ explanation }: RequestShape, name: string): string | undefined {
  return explanation.find((entry) => entry.name === name)?.lines.join('\n')
}
