import type {
  ContentBlock,
  ImageBlock,
  ImageFormat,
  Message,
  SystemContentBlock,
  ToolUseBlock,
} from '@aws-sdk/client-bedrock-runtime'
import { isObject } from '../wire/field-rules.ts'
import { invalid, unsupported } from './bedrock-failure.ts'

type Fields = Readonly<Record<string, unknown>>
type Turn = { readonly role: 'user' | 'assistant'; readonly content: ContentBlock[] }
/** What both a message and the result of a tool may hold. */
type Part = { readonly text: string } | { readonly image: ImageBlock }

export type Conversation = { readonly system: SystemContentBlock[]; readonly messages: Message[] }

/**
 * Converse wants the roles to alternate, blocks that are not blank, and tool calls and their results only beside the
 * tools' definitions. Without those (`tool_choice: 'none'`, or none were sent) the calls of the past are told as text.
 */
export function toConversation(messages: unknown, withTools: boolean): Conversation {
  const system: SystemContentBlock[] = []
  const turns: Turn[] = []
  const say = (role: Turn['role'], blocks: readonly ContentBlock[]) => {
    const last = turns.at(-1)
    if (blocks.length === 0) return
    if (last?.role === role) last.content.push(...blocks)
    else turns.push({ role, content: [...blocks] })
  }
  for (const [position, message] of (Array.isArray(messages) ? messages : []).entries()) {
    const at = `messages[${position}]`
    switch (message.role) {
      case 'system':
      case 'developer':
        system.push(...toParts(message.content, `${at}.content`).map((part) => requireText(part, at)))
        break
      case 'user':
        say('user', toParts(message.content, `${at}.content`))
        break
      case 'assistant':
        say('assistant', toParts(message.content, `${at}.content`))
        say('assistant', toCalls(message, at, withTools))
        break
      case 'tool':
        say('user', toResult(message, at, withTools))
        break
      default:
        throw unsupported(`${at}.role`, `messages of the role '${message.role}' ('${at}')`)
    }
  }
  return { system, messages: turns }
}

function requireText(part: Part, at: string): { readonly text: string } {
  if ('text' in part) return part
  throw invalid(`${at}.content`, 'text')
}

function toParts(content: unknown, at: string): Part[] {
  if (typeof content === 'string') return toText(content)
  if (!Array.isArray(content)) return []
  return content.flatMap((part: Fields, position) => {
    switch (part.type) {
      case 'text':
        return toText(part.text)
      case 'refusal':
        return toText(part.refusal)
      case 'image_url':
        return { image: toImage(part.image_url, `${at}[${position}].image_url.url`) }
      default:
        throw unsupported(`${at}[${position}]`, `content parts of the type '${part.type}' ('${at}[${position}]')`)
    }
  })
}

function toText(text: unknown): Part[] {
  return typeof text === 'string' && text.trim() !== '' ? [{ text }] : []
}

const DATA_URL = /^data:image\/(png|jpe?g|gif|webp);base64,/i
const BASE64 = /^[A-Za-z0-9+/\s]+={0,2}\s*$/

function toImage(image: unknown, at: string): ImageBlock {
  const url = isObject(image) && typeof image.url === 'string' ? image.url : ''
  if (/^https?:/i.test(url)) {
    throw unsupported(at, `images behind an address ('${at}'): send them as data: URLs`)
  }
  const [start = '', type = ''] = DATA_URL.exec(url) ?? []
  const data = url.slice(start.length)
  if (start === '' || !BASE64.test(data)) throw invalid(at, 'a base64 data: URL of a PNG, JPEG, GIF or WebP image')
  const format = type.toLowerCase().replace('jpg', 'jpeg') as ImageFormat
  return { format, source: { bytes: Buffer.from(data, 'base64') } }
}

function toCalls({ tool_calls }: Fields, at: string, withTools: boolean): ContentBlock[] {
  return (Array.isArray(tool_calls) ? tool_calls : []).map((call: unknown, position) => {
    const path = `${at}.tool_calls[${position}]`
    const fn = isObject(call) && isObject(call.function) ? call.function : {}
    if (!isObject(call) || typeof call.id !== 'string' || typeof fn.name !== 'string') {
      throw invalid(path, "the call of a function, with its 'id' and 'name'")
    }
    if (!withTools) return { text: `[Tool call ${call.id}: ${fn.name}(${fn.arguments ?? ''})]` }
    const input = toInput(fn.arguments, `${path}.function.arguments`)
    return { toolUse: { toolUseId: toToolUseId(call.id), name: fn.name, input } }
  })
}

function toInput(text: unknown, at: string): ToolUseBlock['input'] {
  if (text === undefined || text === null || text === '') return {}
  try {
    const input: unknown = JSON.parse(String(text))
    if (isObject(input)) return input as ToolUseBlock['input']
  } catch {
    // Said below, without the text: it may be somebody's prompt.
  }
  throw invalid(at, 'a JSON object as text')
}

function toResult({ tool_call_id: id, content }: Fields, at: string, withTools: boolean): ContentBlock[] {
  if (typeof id !== 'string' || id === '') throw invalid(`${at}.tool_call_id`, 'the id of a tool call')
  const parts = toParts(content, `${at}.content`)
  const told: Part[] = parts.length > 0 ? parts : [{ text: '(nothing)' }]
  if (!withTools) return [{ text: `[Result of tool call ${id}:]` }, ...told]
  return [{ toolResult: { toolUseId: toToolUseId(id), content: told } }]
}

/** The ids of other providers, in a conversation that began there, may have more characters than Converse's. */
function toToolUseId(id: string): string {
  return id.replace(/[^A-Za-z0-9_-]/g, '_').slice(-64)
}
