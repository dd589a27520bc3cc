import { isObject } from '../../wire/field-rules.ts'
import type { Thought } from './turns.ts'

type Fields = Readonly<Record<string, unknown>>

const FORMAT = 'anthropic-claude-v1'

/**
 * The thoughts of an assistant's message, as OpenRouter has them. Those without a signature, and those of other models, are
 * nobody's to read again. The words of a signed thought may come in pieces before it, or stand in `reasoning_content`.
 */
export function readThoughts({ reasoning_content: told, reasoning_details: details }: Fields): Thought[] {
  const thoughts: Thought[] = []
  let text = ''
  for (const detail of Array.isArray(details) ? details : []) {
    if (!isObject(detail) || detail.format !== FORMAT) continue
    text += textIn(detail.text)
    const [signature, data] = [textIn(detail.signature), textIn(detail.data)]
    if (detail.type === 'reasoning.encrypted' && data !== '') thoughts.push(toThought({ data }))
    if (signature === '') continue
    thoughts.push(toThought({ text: text || textIn(told), signature }))
    text = ''
  }
  return thoughts
}

function toThought(thought: Thought['thought']): Thought {
  return { kind: 'thought', thought, endsCache: false }
}

function textIn(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
