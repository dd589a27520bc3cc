import type * as aws from '@aws-sdk/client-bedrock-runtime'
import type { Cacheable, ContentPart, ImagePart, Thought, ToolResult, Turn, TurnPart } from '../conversation/turns.ts'
import { type CachePrices, cacheMarkOf } from '../limit-request.ts'
import { unsupported } from '../verdict.ts'

type PlainBlock = { readonly text: string } | { readonly image: aws.ImageBlock }

/** Converse accepts tool calls only beside the tools' definitions. Without those, past calls become text. */
export function toMessages(turns: readonly Turn[], withTools: boolean, prices: CachePrices): aws.Message[] {
  const write: (part: TurnPart) => aws.ContentBlock | aws.ContentBlock[] = withTools ? toBlock : toPlainBlocks
  const marked = markedBy(prices)
  return turns.map(({ role, parts }) => ({ role, content: parts.flatMap((part) => marked(write(part), part)) }))
}

type CachePoint = { readonly cachePoint: { readonly type: 'default'; readonly ttl?: '1h' } }

export type Marked = ReturnType<typeof markedBy>

/** Puts a cache mark after a block, if the price of the cache is known. */
export function markedBy(prices: CachePrices) {
  return <Block>(block: Block | Block[], { cacheMark }: Cacheable): (Block | CachePoint)[] => {
    const blocks = Array.isArray(block) ? block : [block]
    const mark = cacheMarkOf(cacheMark, prices)
    return mark ? [...blocks, { cachePoint: { type: 'default', ...(mark.ttl && { ttl: mark.ttl }) } }] : blocks
  }
}

function toBlock(part: TurnPart): aws.ContentBlock {
  if (part.kind === 'toolCall') {
    const input = part.arguments as aws.ToolUseBlock['input']
    return { toolUse: { toolUseId: toToolUseId(part.id), name: part.name, input } }
  }
  if (part.kind === 'thought') return { reasoningContent: toReasoning(part) }
  if (part.kind !== 'toolResult') return toPlainBlock(part)
  const status = part.isError && { status: 'error' as const }
  return { toolResult: { toolUseId: toToolUseId(part.id), content: toResult(part), ...status } }
}

function toReasoning({ thought }: Thought): aws.ReasoningContentBlock {
  if ('data' in thought) return { redactedContent: Buffer.from(thought.data, 'base64') }
  return { reasoningText: { text: thought.text, signature: thought.signature } }
}

function toPlainBlocks(part: TurnPart): aws.ContentBlock | aws.ContentBlock[] {
  if (part.kind === 'thought') return toBlock(part)
  if (part.kind === 'toolCall') return { text: `[Tool call ${part.id}: ${part.name}(${part.argumentsText})]` }
  if (part.kind !== 'toolResult') return toPlainBlock(part)
  return [{ text: `[Result of tool call ${part.id}:]` }, ...toResult(part)]
}

function toPlainBlock(part: ContentPart): PlainBlock {
  return part.kind === 'text' ? { text: part.text } : { image: toImage(part) }
}

function toImage({ source, path }: ImagePart): aws.ImageBlock {
  if (source.kind === 'address') throw unsupported(path, 'must be a data: URL: this model fetches no images')
  return { format: source.format, source: { bytes: Buffer.from(source.base64, 'base64') } }
}

/** A tool result without content still needs a block. */
function toResult({ parts }: ToolResult): PlainBlock[] {
  return parts.length > 0 ? parts.map(toPlainBlock) : [{ text: '(nothing)' }]
}

/** The ids of other providers, in a conversation that began there, may have more characters than Converse's. */
function toToolUseId(id: string): string {
  return id.slice(-64).replace(/[^A-Za-z0-9_-]/g, '_')
}
