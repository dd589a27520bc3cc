import type { JsonObject } from '../../domain/basics/json-object.ts'
import type { ChatBody, HostedTool } from '../../domain/chat/chat.ts'
import type { CallKind } from '../../domain/money/price-kinds.ts'
import type { ContractName } from '../../endpoints.ts'
import { isObject } from '../basics/field-rules.ts'
import type { Rows, Shape } from '../basics/shape.ts'
import * as is from '../basics/shape.ts'

/** A tool that a provider runs: the kind of its calls, and the fields with which one price covers any call. */
export type HostedRow = { readonly kind: CallKind; readonly rows: Rows } | { readonly why: string }

/** The rows by the type of their tools, without the date of its version. */
export type HostedTable = Readonly<Record<string, HostedRow>>

export const USER_LOCATION = is.object({
  type: is.word('approximate'),
  ...is.each(is.text, 'city', 'country', 'region', 'timezone'),
})

const NOT_CARRIED = 'has a field that this gateway does not pass on: it may cost more, or is stored at the provider'

/** Chat's only tool of this sort: a field beside the tools. No provider takes a bound of its calls, or has to count them. */
export const WEB_SEARCH_OPTIONS: Shape = orLeftOut(
  is.object({
    search_context_size: is.word('low', 'medium', 'high'),
    user_location: is.object({ type: is.word('approximate'), approximate: USER_LOCATION }),
  }),
  NOT_CARRIED,
)

/** The date of a version in a tool's type. */
const DATE = /_\d{4}_?\d{2}_?\d{2}$/

export function hostedRow(table: HostedTable, sent: unknown): HostedRow | undefined {
  const type = isObject(sent) ? sent.type : undefined
  const name = typeof type === 'string' ? type.replace(DATE, '') : ''
  return Object.hasOwn(table, name) ? table[name] : undefined
}

/** For documents: the shapes by the patterns of their types. */
export const hostedPatterns = (table: HostedTable): Readonly<Record<string, Shape>> =>
  Object.fromEntries(
    Object.entries(table).map(([type, row]) => [`^${type}(?:${DATE.source.slice(0, -1)})?$`, hostedShape(row)]),
  )

/** A tool of a row of this table. One that cannot be offered is left out, and is no reason to refuse the request. */
export function hostedShape(row: HostedRow): Shape {
  if ('why' in row) return is.shaped(is.treated('dropped'), (sent, at) => at.leaveOut(row.why, { name: nameOf(sent) }))
  return orLeftOut(is.object({ type: is.text, ...row.rows }), NOT_CARRIED)
}

function orLeftOut(shape: Shape, why: string): Shape {
  return is.shaped({ ...shape.schema, isHosted: true }, (sent, at) => {
    if (sent === null) return undefined
    const name = isObject(sent) && typeof sent.type === 'string' ? { name: nameOf(sent) } : {}
    return at.whole(shape, sent) ?? at.leaveOut(why, name)
  })
}

function nameOf(tool: unknown): string {
  return `tools.${(tool as JsonObject).type}`
}

/** A request all of whose tools were left out has no choice among them either. */
export function withoutEmptyTools(body: JsonObject): JsonObject {
  const { tools, tool_choice: _, ...rest } = body
  return Array.isArray(tools) && tools.length === 0 ? rest : body
}

type RowOf = (tool: unknown) => HostedRow | undefined

/** The tools of a request that its provider may run, by their rows in the table of its format. */
export function hostedIn(body: ChatBody, rowOf: RowOf, format: ContractName): HostedTool[] {
  const tools = Array.isArray(body.tools) ? (body.tools as JsonObject[]) : []
  const hosted = tools.flatMap((tool, index): HostedTool[] => {
    const row = rowOf(tool)
    if (!row || !('kind' in row)) return []
    const [root, name] = ['tools', nameOf(tool)]
    const most = (format === 'messages' ? tool.max_uses : body.max_tool_calls) as number | undefined
    const stores = tool.vector_store_ids as string[] | undefined
    return [
      { kind: row.kind, format, root, index, name, most, names: [tool.type, tool.name], ...(stores && { stores }) },
    ]
  })
  if (body.web_search_options === undefined) return hosted
  const root = 'web_search_options'
  return [...hosted, { kind: 'webSearch', format: 'chat', root, name: root, names: [] }]
}
