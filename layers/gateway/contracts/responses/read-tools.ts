import type { JsonObject } from '../../domain/basics/json-object.ts'
import type { HostedTool } from '../../domain/chat/chat.ts'
import { badField, copied, isObject } from '../../wire/basics/field-rules.ts'
import { namespacedName } from '../../wire/chat/namespaced-name.ts'
import { providerTool } from './hosted-tools.ts'
import type { ToolName } from './output-items.ts'
import { notTaken } from './own-words.ts'

const MAX_TOOLS = 1024
/** The longest name of a function in Chat Completions. */
const MAX_NAME = 64

type Tool = JsonObject & { readonly name: string }

/** The tools without namespaces, and the characters by which their names are longer than the caller's own. */
export function readTools(tools: unknown): { readonly tools: JsonObject[]; readonly addedChars: number } {
  const read = new Map<string, JsonObject>()
  let addedChars = 0
  for (const { tool, path, name } of flat(tools)) {
    if (read.size === MAX_TOOLS) throw badField('tools', `an array of at most ${MAX_TOOLS} tools`, tools)
    if (name.length > MAX_NAME) {
      throw notTaken(`${path}.name`, `must have at most ${MAX_NAME} characters, with its namespace and two for '__'`)
    }
    if (read.has(name)) throw notTaken(`${path}.name`, 'is the name of a tool before it, too')
    addedChars += name.length - tool.name.length
    read.set(name, readTool(tool, name, path))
  }
  return { tools: [...read.values()], addedChars }
}

export function namespacesOf(tools: unknown): ReadonlyMap<string, ToolName> {
  const named = [...flat(tools)].filter(({ namespace }) => namespace !== undefined)
  return new Map(named.map(({ tool, name, namespace }) => [name, { namespace, name: tool.name }]))
}

type PlacedTool = { readonly tool: Tool; readonly path: string; readonly name: string; readonly namespace?: string }

function* flat(tools: unknown): Generator<PlacedTool, void, undefined> {
  for (const [index, tool] of ((tools ?? []) as Tool[]).entries()) {
    const path = `tools[${index}]`
    // A tool that the provider runs stays in the request's own format.
    if (providerTool(tool)) continue
    if (tool.type !== 'namespace') yield { tool, path, name: tool.name }
    else
      for (const [at, inner] of (tool.tools as Tool[]).entries()) {
        const name = namespacedName(tool.name, inner.name)
        yield { tool: inner, path: `${path}.tools[${at}]`, name, namespace: tool.name }
      }
  }
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
  const isOwn = ({ type }: JsonObject) => type === 'function' || type === 'custom'
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
  return { type, [type as string]: { name: namespacedName(namespace, name as string) } }
}
