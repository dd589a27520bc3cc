import type { JsonObject } from '../../domain/basics/json-object.ts'
import type { Emit, ItemPosition, ItemStatus, OutputItem } from './output-item.ts'

export type ToolName = { readonly name: string; readonly namespace?: string }

const EVENTS = {
  function: 'response.function_call_arguments',
  custom: 'response.custom_tool_call_input',
} as const

/** A call of a tool. Calls come interleaved, so each is open until the answer ends. */
export class CallItem implements OutputItem {
  readonly #emit: Emit
  readonly #position: ItemPosition
  readonly #kind: 'function' | 'custom'
  readonly #call: JsonObject
  #said = ''
  #status: ItemStatus | 'in_progress' = 'in_progress'

  constructor(emit: Emit, position: ItemPosition, kind: 'function' | 'custom', callId: string, tool: ToolName) {
    this.#emit = emit
    this.#position = position
    this.#kind = kind
    this.#call = { call_id: callId, ...tool }
    emit('response.output_item.added', { output_index: position.output_index, item: this.shown })
  }

  get shown(): JsonObject {
    const id = this.#position.item_id
    return this.#kind === 'custom'
      ? { id, type: 'custom_tool_call', ...this.#call, input: this.#said }
      : { id, type: 'function_call', status: this.#status, ...this.#call, arguments: this.#said }
  }

  say(delta: string): void {
    if (delta === '') return
    this.#said += delta
    this.#emit(`${EVENTS[this.#kind]}.delta`, { ...this.#position, delta })
  }

  close(status: ItemStatus): void {
    // Clients parse the arguments of a complete call, so empty ones are `{}`.
    if (this.#kind === 'function' && this.#said === '' && status === 'completed') this.say('{}')
    this.#status = status
    const said = this.#kind === 'custom' ? { input: this.#said } : { name: this.#call.name, arguments: this.#said }
    this.#emit(`${EVENTS[this.#kind]}.done`, { ...this.#position, ...said })
    this.#emit('response.output_item.done', { output_index: this.#position.output_index, item: this.shown })
  }
}
