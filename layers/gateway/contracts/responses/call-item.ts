import type { JsonObject } from '../../domain/json-object.ts'
import type { Emit, ItemStatus, OutputItem, Place } from './output-item.ts'

/** The names of a tool: its own, and its namespace's if it is in one. */
export type ToolName = { readonly name: string; readonly namespace?: string }

const EVENTS = {
  function: 'response.function_call_arguments',
  custom: 'response.custom_tool_call_input',
} as const

/** A call of a tool. Calls come side by side, so each is open until the answer ends. */
export class CallItem implements OutputItem {
  readonly #emit: Emit
  readonly #place: Place
  readonly #kind: 'function' | 'custom'
  readonly #call: JsonObject
  #said = ''
  #status: ItemStatus | 'in_progress' = 'in_progress'

  constructor(emit: Emit, place: Place, kind: 'function' | 'custom', callId: string, tool: ToolName) {
    this.#emit = emit
    this.#place = place
    this.#kind = kind
    this.#call = { call_id: callId, ...tool }
    emit('response.output_item.added', { output_index: place.output_index, item: this.shown })
  }

  get shown(): JsonObject {
    const id = this.#place.item_id
    return this.#kind === 'custom'
      ? { id, type: 'custom_tool_call', ...this.#call, input: this.#said }
      : { id, type: 'function_call', status: this.#status, ...this.#call, arguments: this.#said }
  }

  say(delta: string): void {
    if (delta === '') return
    this.#said += delta
    this.#emit(`${EVENTS[this.#kind]}.delta`, { ...this.#place, delta })
  }

  close(status: ItemStatus): void {
    // Clients parse the arguments of a whole call, and none are `{}`.
    if (this.#kind === 'function' && this.#said === '' && status === 'completed') this.say('{}')
    this.#status = status
    const said = this.#kind === 'custom' ? { input: this.#said } : { name: this.#call.name, arguments: this.#said }
    this.#emit(`${EVENTS[this.#kind]}.done`, { ...this.#place, ...said })
    this.#emit('response.output_item.done', { output_index: this.#place.output_index, item: this.shown })
  }
}
