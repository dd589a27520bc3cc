import type { JsonObject } from '../../domain/basics/json-object.ts'
import type { HostedTool } from '../../domain/chat/chat.ts'
import { badField, copied, isObject } from '../../wire/basics/field-rules.ts'
import { namespacedName } from '../../wire/chat/namespaced-name.ts'
import { CLIENT_TOOLS, type ClientTool, clientToolOf } from './client-tools.ts'
import { providerTool } from './hosted-tools.ts'
import { notTaken } from './own-words.ts'

const MAX_TOOLS = 1024

type Tool = JsonObject & { readonly name: string }

/** The caller's name of a tool: that of a function or custom tool, or a tool of its own type. */
export type ToolName = { readonly name: string; readonly namespace?: string | undefined }
export type NamedTool = ToolName & { readonly client?: ClientTool | undefined }

type ReadTools = { readonly tools: JsonObject[]; readonly count: number; readonly addedChars: number }

/** The tools as functions and custom tools, and the characters by which they are longer than the caller's own. */
export function readTools(body: JsonObject): ReadTools {
  const read = new Map<string, JsonObject>()
  let [count, addedChars] = [0, 0]
  for (const { tool, path, name, client, isLoaded } of toolsIn(body)) {
    if (read.size === MAX_TOOLS && !read.has(name)) {
      throw badField('tools', `an array of at most ${MAX_TOOLS} tools`, body.tools)
    }
    // A search may find a tool again. Its newest definition counts.
    if (read.has(name) && !isLoaded) throw notTaken(`${path}.name`, 'is the name of a tool before it, too')
    const inner = client ? functionOf(client) : readTool(tool, name, path)
    addedChars += client ? JSON.stringify(inner).length : name.length - tool.name.length
    read.set(name, inner)
    count += 1
  }
  return { tools: [...read.values()], count, addedChars }
}

/** The caller's tools by their names in the inner form. */
export function toolNames(body: JsonObject): ReadonlyMap<string, NamedTool> {
  const named = [...toolsIn(body)].filter(({ namespace, client }) => namespace !== undefined || client)
  return new Map(named.map(({ tool, name, namespace, client }) => [name, { namespace, name: tool.name, client }]))
}

/** The names of the tools of a list in the inner form. */
export function namesIn(tools: unknown): string[] {
  return [...flat(tools, '')].map(({ name }) => name)
}

type PlacedTool = NamedTool & { readonly tool: Tool; readonly path: string; readonly isLoaded?: boolean }

/** The tools of the request, and those that an item of its input adds. */
function* toolsIn({ tools, input }: JsonObject): Generator<PlacedTool, void, undefined> {
  yield* flat(tools, 'tools')
  for (const [index, item] of (Array.isArray(input) ? (input as JsonObject[]) : []).entries()) {
    if (item.type !== 'additional_tools' && item.type !== 'tool_search_output') continue
    for (const tool of flat(item.tools, `input[${index}].tools`)) yield { ...tool, isLoaded: true }
  }
}

function* flat(tools: unknown, at: string): Generator<PlacedTool, void, undefined> {
  for (const [index, tool] of ((tools ?? []) as Tool[]).entries()) {
    const path = `${at}[${index}]`
    const client = clientToolOf(tool)
    // Tools that the provider runs stay in the request's own format.
    if (providerTool(tool) || (tool.type === 'tool_search' && !client)) continue
    if (client) yield { tool, path, name: client.name, client }
    else if (tool.type !== 'namespace') yield { tool, path, name: namespacedName(undefined, tool.name) }
    else
      for (const [place, inner] of (tool.tools as Tool[]).entries()) {
        const name = namespacedName(tool.name, inner.name)
        yield { tool: inner, path: `${path}.tools[${place}]`, name, namespace: tool.name }
      }
  }
}

function functionOf({ name, description, parameters }: ClientTool): JsonObject {
  return { type: 'function', function: { name, description, parameters } }
}

function readTool(tool: Tool, name: string, path: string): JsonObject {
  if (tool.type !== 'custom') {
    return { type: 'function', function: { name, ...copied(tool, ['description', 'parameters', 'strict']) } }
  }
  const format = isObject(tool.format) && { format: readFormat(tool.format, `${path}.format`) }
  return { type: 'custom', custom: { name, ...copied(tool, ['description']), ...format } }
}

function readFormat({ type, syntax, definition }: JsonObject, path: string): JsonObject {
  if (type === 'text') return { type }
  if (type === 'grammar' && syntax !== undefined && definition !== undefined) {
    return { type, grammar: { syntax, definition } }
  }
  throw badField(path, "of type text, or grammar with a 'syntax' and a 'definition'", type)
}

/** Undefined for the default. Without tools there is nothing to choose. */
export function readToolChoice(choice: unknown, toolCount: number, hosted: readonly HostedTool[]): unknown {
  const isOffered = ({ type }: JsonObject) => hosted.some(({ names }) => names.includes(type))
  const isOwn = ({ type }: JsonObject) => type === 'function' || type === 'custom' || String(type) in CLIENT_TOOLS
  if (isObject(choice)) {
    const { type, mode, tools } = choice
    const chosen = type === 'allowed_tools' ? (tools as JsonObject[]) : [choice]
    if (!chosen.some((one) => isOwn(one) || isOffered(one))) throw notTaken('tool_choice', NOT_OFFERED)
    if (type !== 'allowed_tools') return isOwn(choice) ? readNamed(choice) : undefined
    const own = chosen.filter(isOwn).map(readNamed)
    return own.length > 0 ? { type, allowed_tools: { mode, tools: own } } : undefined
  }
  if (choice === 'required' && toolCount + hosted.length === 0)
    throw notTaken('tool_choice', "is 'required', but there are no tools")
  return toolCount > 0 ? choice : undefined
}

const NOT_OFFERED = 'forces a tool that is not offered here'

function readNamed({ type, namespace, name }: JsonObject): JsonObject {
  const client = CLIENT_TOOLS[String(type)]
  if (client) return { type: 'function', function: { name: client.name } }
  return { type, [type as string]: { name: namespacedName(namespace, name as string) } }
}
