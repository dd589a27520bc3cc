import type { JsonObject } from '../../domain/basics/json-object.ts'
import type { ChatRequest, HostedTool } from '../../domain/chat/chat.ts'
import { isPriced, mostCalls } from '../../domain/money/hosted-calls.ts'
import type { PricedRequest } from '../../domain/money/priced-request.ts'
import { formatOf, type ProviderEntry } from '../../domain/routing/catalog.ts'
import { UpstreamFailure } from '../../domain/routing/upstream-failure.ts'
import { isObject } from '../basics/field-rules.ts'

type Offer = {
  /** The request with the tools that this provider may run. They are its `hosted` ones, each call of them bounded. */
  readonly chat: ChatRequest
  readonly dropped: readonly string[]
}

/** `allowed` are fields that the operator passes on as they came. */
export function offerTools(
  { chat, model }: Pick<PricedRequest, 'chat' | 'model'>,
  entry: ProviderEntry | undefined,
  allowed: ReadonlySet<string>,
): Offer {
  if (chat.hosted.length === 0) return { chat, dropped: [] }
  const format = formatOf(entry)
  const isOffered = (tool: HostedTool) => tool.format === format && isPriced(tool, model)
  const hosted = chat.hosted.filter(isOffered)
  const left = chat.hosted.filter((tool) => !isOffered(tool) && !allowed.has(tool.root))
  const names = left.map(({ name }) => name)
  const { web_search_options: search, ...rest } = chat.body
  const isLeft = left.some(({ root }) => root === 'web_search_options')
  const body = search === undefined || !isLeft ? chat.body : rest
  const { original } = chat
  if (!original) return { chat: { ...chat, hosted, body }, dropped: names }
  const bounded = withBounds(original.body, hosted, left, (tool) => mostCalls(tool, model))
  const lowered = hosted.filter(({ most, ...tool }) => most !== undefined && most > mostCalls(tool, model))
  const bounds = lowered.map((tool) => (format === 'messages' ? `${tool.name}.max_uses` : 'max_tool_calls'))
  return {
    chat: { ...chat, hosted, body, original: { ...original, body: bounded } },
    dropped: [...new Set([...names, ...bounds])],
  }
}

function withBounds(
  { tools = [], tool_choice: choice, web_search_options: _, ...rest }: JsonObject,
  hosted: readonly HostedTool[],
  left: readonly HostedTool[],
  most: (tool: HostedTool) => number,
): JsonObject {
  const places = new Map(hosted.map((tool) => [tool.index, tool]))
  const leftPlaces = new Set(left.map(({ index }) => index))
  const kept = (tools as JsonObject[]).flatMap((tool, index) => {
    const offered = places.get(index)
    if (leftPlaces.has(index)) return []
    return offered?.format === 'messages' ? { ...tool, max_uses: most(offered) } : tool
  })
  const chosen = withoutLeft(choice, hosted, left, kept.length === 0)
  const shared = hosted.find(({ format }) => format === 'responses')
  return {
    ...rest,
    ...(kept.length > 0 && { tools: kept, ...(chosen !== undefined && { tool_choice: chosen }) }),
    ...(shared && { max_tool_calls: most(shared) }),
  }
}

/** Refuses a choice that only a tool which is left out could follow. */
function withoutLeft(
  choice: unknown,
  hosted: readonly HostedTool[],
  left: readonly HostedTool[],
  isEmpty: boolean,
): unknown {
  const isNamed = (tools: readonly HostedTool[], name: unknown) => tools.some(({ names }) => names.includes(name))
  const isGone = ({ type, name }: JsonObject) => {
    const of = type === 'tool' ? name : type
    return isNamed(left, of) && !isNamed(hosted, of)
  }
  const { type, tools } = isObject(choice) ? choice : { type: choice }
  const chosen = Array.isArray(tools) ? tools : isObject(choice) ? [choice] : []
  const stay = chosen.filter((one) => !isGone(one))
  const isForced = isEmpty ? type === 'required' || type === 'any' : false
  if (isForced || (chosen.length > 0 && stay.length === 0)) {
    const message = "'tool_choice' forces a tool that this gateway does not offer with this model. Leave it out."
    throw new UpstreamFailure('unsupported', message, { param: 'tool_choice', code: 'unsupported_parameter' })
  }
  return Array.isArray(tools) ? { ...(choice as JsonObject), tools: stay } : choice
}
