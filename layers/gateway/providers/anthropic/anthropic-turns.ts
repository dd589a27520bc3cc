import { hash } from 'node:crypto'
import type { Cacheable, ImageSource, TextPart, ToolResult, TurnPart } from '../conversation/turns.ts'
import { type CachePrices, cacheMarkOf } from '../limit-request.ts'

type Block = Record<string, unknown>

export type Blocks = ReturnType<typeof blocksFor>

export function blocksFor(prices: CachePrices) {
  const marked = (block: Block, { cacheMark }: Cacheable): Block => {
    const mark = cacheMarkOf(cacheMark, prices)
    return mark ? { ...block, cache_control: mark } : block
  }
  const part = (one: TurnPart) => marked(toBlock(one), one)
  const system = (texts: readonly TextPart[]) =>
    texts.some(({ cacheMark }) => cacheMarkOf(cacheMark, prices))
      ? texts.map(part)
      : texts.map(({ text }) => text).join('\n')
  return { part, system, marked }
}

function toBlock(part: TurnPart): Block {
  if (part.kind === 'text') return { type: 'text', text: part.text }
  if (part.kind === 'image') return { type: 'image', source: toSource(part.source) }
  if (part.kind === 'thought') {
    return 'data' in part.thought
      ? { type: 'redacted_thinking', data: part.thought.data }
      : { type: 'thinking', thinking: part.thought.text, signature: part.thought.signature }
  }
  const id = toToolId(part.id)
  if (part.kind === 'toolCall') return { type: 'tool_use', id, name: part.name, input: part.arguments }
  const content = toResultContent(part)
  return { type: 'tool_result', tool_use_id: id, content, ...(part.isError && { is_error: true }) }
}

function toSource(source: ImageSource): Block {
  if (source.kind === 'address') return { type: 'url', url: source.url }
  return { type: 'base64', media_type: `image/${source.format}`, data: source.base64 }
}

function toResultContent({ parts }: ToolResult): string | Block[] {
  const [first] = parts
  if (first === undefined) return ''
  return first.kind === 'text' && parts.length === 1 ? first.text : parts.map(toBlock)
}

const LONGEST_ID = 256

/** Other providers' ids have characters that Anthropic refuses; call and result are changed alike, so they still match. */
function toToolId(id: string): string {
  if (id.length > LONGEST_ID) return hash('sha256', id)
  return id.replace(/[^\w-]/g, (character) => `_${character.charCodeAt(0).toString(16)}`)
}
