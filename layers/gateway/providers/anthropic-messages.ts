import { isObject } from '../wire/field-rules.ts'
import { rejection } from './anthropic-rejection.ts'

type Fields = Record<string, unknown>
type Turn = { readonly role: 'user' | 'assistant'; readonly content: Fields[] }

export type Conversation = { readonly system?: string; readonly messages: readonly Turn[] }

/** OpenAI's messages as the Messages API has them: instructions apart, turns that alternate, tool results the user's. */
export function toConversation(messages: unknown): Conversation {
  const system: string[] = []
  const turns: Turn[] = []
  for (const [index, message] of listOf(messages).entries()) {
    const path = `messages[${index}]`
    if (message.role === 'system' || message.role === 'developer') {
      for (const { text } of textsOf(message.content, `${path}.content`)) system.push(text)
      continue
    }
    const turn = toTurn(message, path)
    const last = turns.at(-1)
    if (last?.role === turn.role) for (const block of turn.content) last.content.push(block)
    else if (turn.content.length > 0) turns.push(turn)
  }
  return { ...(system.length > 0 && { system: system.join('\n') }), messages: turns }
}

function toTurn(message: Fields, path: string): Turn {
  switch (message.role) {
    case 'user':
      return { role: 'user', content: userContent(message, path) }
    case 'tool':
      return { role: 'user', content: [toolResult(message, path)] }
    case 'assistant':
      return {
        role: 'assistant',
        content: [...textsOf(message.content, `${path}.content`), ...afterText(message, path)],
      }
    default:
      throw rejection(
        `'${path}.role' is '${message.role}', which this model does not know; use 'tool'.`,
        `${path}.role`,
      )
  }
}

function userContent({ content }: Fields, path: string): Fields[] {
  const blocks = blocksOf(content, `${path}.content`)
  if (blocks.length > 0) return blocks
  throw rejection(`'${path}.content' is blank, which this model does not accept.`, `${path}.content`)
}

function toolResult({ tool_call_id: id, content }: Fields, path: string): Fields {
  return {
    type: 'tool_result',
    tool_use_id: toolId(id, `${path}.tool_call_id`),
    content: typeof content === 'string' ? content : blocksOf(content, `${path}.content`),
  }
}

function afterText({ refusal, tool_calls: calls }: Fields, path: string): Fields[] {
  return [
    ...(typeof refusal === 'string' ? textBlocks(refusal) : []),
    ...listOf(calls).map((call, index) => toolUse(call, `${path}.tool_calls[${index}]`)),
  ]
}

function toolUse(call: Fields, path: string): Fields {
  const fn = isObject(call.function) ? call.function : {}
  if (typeof fn.name !== 'string') throw rejection(`'${path}' must be a call of a function with a name.`, path)
  return {
    type: 'tool_use',
    id: toolId(call.id, `${path}.id`),
    name: fn.name,
    input: parseArguments(fn.arguments, `${path}.function.arguments`),
  }
}

function parseArguments(text: unknown, path: string): Fields {
  if (text === undefined || text === null || text === '') return {}
  try {
    const value: unknown = JSON.parse(String(text))
    if (isObject(value)) return value
  } catch {
    // Told below, without the text.
  }
  throw rejection(`'${path}' must be a JSON object, which this model requires of a past tool call.`, path)
}

/** Other providers' ids have characters that Anthropic refuses; call and result are changed alike, so they still match. */
function toolId(id: unknown, path: string): string {
  if (typeof id !== 'string' || id === '') throw rejection(`'${path}' must be the id of a tool call.`, path)
  return id.replace(/[^\w-]/g, (character) => `_${character.charCodeAt(0).toString(16)}`)
}

function blocksOf(content: unknown, path: string): Fields[] {
  if (typeof content === 'string') return textBlocks(content)
  return listOf(content).flatMap((part, index) => {
    const text = textOfPart(part)
    return text === undefined ? [toImage(part, `${path}[${index}]`)] : textBlocks(text)
  })
}

function textsOf(content: unknown, path: string): { type: 'text'; text: string }[] {
  if (typeof content === 'string') return textBlocks(content)
  return listOf(content).flatMap((part, index) => {
    const text = textOfPart(part)
    if (text === undefined) throw notText(part, `${path}[${index}]`)
    return textBlocks(text)
  })
}

function textOfPart({ type, text, refusal }: Fields): string | undefined {
  const said = type === 'text' ? text : type === 'refusal' ? refusal : undefined
  return typeof said === 'string' ? said : undefined
}

/** OpenAI's clients send blank text beside tool calls; Anthropic refuses the whole request for it. */
function textBlocks(text: string): { type: 'text'; text: string }[] {
  return text.trim() === '' ? [] : [{ type: 'text', text }]
}

const DATA_URL = /^data:image\/(jpeg|jpg|png|gif|webp);base64,/i

function toImage(part: Fields, path: string): Fields {
  if (part.type !== 'image_url') throw notText(part, path, 'text and images')
  const url = isObject(part.image_url) ? part.image_url.url : undefined
  if (typeof url === 'string') {
    const data = DATA_URL.exec(url)
    if (data) {
      const kind = data[1]?.toLowerCase().replace('jpg', 'jpeg')
      const source = { type: 'base64', media_type: `image/${kind}`, data: url.slice(data[0].length) }
      return { type: 'image', source }
    }
    if (/^https:\/\//i.test(url)) return { type: 'image', source: { type: 'url', url } }
  }
  const at = `${path}.image_url.url`
  throw rejection(`'${at}' must be an https address or a base64 data: URL of a JPEG, PNG, GIF or WebP image.`, at)
}

function notText(part: Fields, path: string, accepted = 'only text') {
  return rejection(
    `'${path}' is of type '${String(part.type).slice(0, 40)}'; this model accepts ${accepted} here.`,
    path,
  )
}

function listOf(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}
