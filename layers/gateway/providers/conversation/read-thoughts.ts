import type { JsonObject } from '../../domain/basics/json-object.ts'
import { isObject } from '../../wire/basics/field-rules.ts'
import type { Thought } from './turns.ts'

const FORMAT = 'anthropic-claude-v1'

/**
 * The thoughts of an assistant's message, as OpenRouter has them. Thoughts without a signature, and those of other
 * models, cannot be used again. The text of a signed thought may come in pieces before it, or stand in
 * `reasoning_content`.
 */
export function readThoughts({ reasoning_content: told, reasoning_details: details }: JsonObject): Thought[] {
  const thoughts: Thought[] = []
  const known: JsonObject[] = Array.isArray(details)
    ? details.filter((one) => isObject(one) && one.format === FORMAT)
    : []
  let text = ''
  // A text beside the thoughts belongs to the first; an empty thought stays empty.
  let beside = known.some((detail) => textIn(detail.text) !== '') ? '' : textIn(told)
  for (const detail of known) {
    text += textIn(detail.text)
    const [signature, data] = [textIn(detail.signature), textIn(detail.data)]
    if (detail.type === 'reasoning.encrypted' && data !== '') thoughts.push(toThought({ data }))
    if (signature === '') continue
    thoughts.push(toThought({ text: text || beside, signature }))
    text = ''
    beside = ''
  }
  return thoughts
}

function toThought(thought: Thought['thought']): Thought {
  return { kind: 'thought', thought }
}

function textIn(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
