import type { JsonObject } from '../../domain/basics/json-object.ts'
import { fieldsOf } from '../conversation/answer-parts.ts'

/** The items of tools that OpenAI runs, by the name of their count. */
const COUNTS: ReadonlyMap<unknown, string> = new Map([
  ['web_search_call', 'web_search_requests'],
  ['file_search_call', 'file_search_requests'],
  ['code_interpreter_call', 'code_execution_requests'],
  ['shell_call', 'code_execution_requests'],
  ['image_generation_call', 'image_generation_requests'],
  ['mcp_call', 'mcp_requests'],
])

/** Counts what OpenAI bills: searches but no pages that are opened, and containers but no runs in them. */
export class HostedItems {
  readonly counts = new Map<string, number>()
  readonly #containers = new Set<unknown>()

  /** True if the item is a billed one. */
  take({ type, id, action, container_id, environment }: JsonObject): boolean {
    const count = COUNTS.get(type)
    if (count === undefined || (type === 'web_search_call' && NOT_BILLED.has(fieldsOf(action).type))) return false
    if (count === 'code_execution_requests') {
      const container = container_id ?? fieldsOf(environment).container_id
      // A shell without a container is the client's.
      if (type === 'shell_call' && container === undefined) return false
      this.#containers.add(container ?? id)
      this.counts.set(count, this.#containers.size)
    } else this.counts.set(count, (this.counts.get(count) ?? 0) + 1)
    return true
  }
}

const NOT_BILLED: ReadonlySet<unknown> = new Set(['open_page', 'find_in_page', 'find'])
