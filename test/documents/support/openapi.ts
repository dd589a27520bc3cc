import { readFileSync } from 'node:fs'
import { z } from 'zod'

type Node = { readonly [name: string]: unknown }
type Content = Readonly<Record<string, { readonly schema: Node; readonly example?: unknown }>>

export type DocumentedAnswer = {
  readonly description: string
  readonly headers?: Readonly<Record<string, Node>>
  readonly content: Content
}

export type Operation = {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<Record<string, DocumentedAnswer | Node>>
}

type OpenApi = {
  readonly openapi: string
  readonly tags: readonly { readonly name: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: {
    readonly headers: Readonly<Record<string, { readonly required?: boolean; readonly schema: Node }>>
    readonly responses: Readonly<Record<string, DocumentedAnswer>>
    readonly schemas: Readonly<Record<string, Node>>
  }
}

export const openApiText = readFileSync(new URL('../../../docs/openapi.json', import.meta.url), 'utf8')
export const openApi = JSON.parse(openApiText) as OpenApi

const SCHEMAS = '#/components/schemas/'
const RESPONSES = '#/components/responses/'
const schemas = hardened(openApi.components.schemas) as Node

/** A checker of values by a schema of the document, in which every field that an answer has must be named. */
export function checkerOf(schema: Node): z.ZodType {
  const known = checkers.get(schema)
  if (known) return known
  const checker = newChecker(schema)
  checkers.set(schema, checker)
  return checker
}

const checkers = new Map<Node, z.ZodType>()

function newChecker(schema: Node): z.ZodType {
  const text = JSON.stringify({ ...(hardened(schema) as Node), $defs: schemas })
  return z.fromJSONSchema(JSON.parse(text.replaceAll(SCHEMAS, '#/$defs/')))
}

export function operation(path: string, method: string): Operation {
  const found = openApi.paths[path]?.[method]
  if (!found) throw new Error(`docs/openapi.json has no ${method} ${path}`)
  return found
}

/** An id with slashes is to the document an id like any other. */
export function documentedPath(route: string): string {
  return route.replace('{id+}', '{id}')
}

export function answerOf({ responses }: Pick<Operation, 'responses'>, status: number): DocumentedAnswer | undefined {
  const found = responses[String(status)]
  const name = found && '$ref' in found ? String(found.$ref).slice(RESPONSES.length) : undefined
  return name === undefined ? (found as DocumentedAnswer | undefined) : openApi.components.responses[name]
}

/** The document leaves room for new fields, as clients should; these tests do not. */
export function hardened(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(hardened)
  if (typeof node !== 'object' || node === null) return node
  const copy = Object.fromEntries(Object.entries(node).map(([name, value]) => [name, hardened(value)]))
  const isObject = copy.type === 'object' && copy.properties !== undefined
  return isObject ? { additionalProperties: false, ...copy } : copy
}

/** The fields, parameters and headers of a document that nothing is said of. */
export function undescribed(node: unknown, path = ''): string[] {
  if (typeof node !== 'object' || node === null || path.endsWith('.examples')) return []
  const isList = /(?<!\.properties)\.(properties|parameters|headers)$/.test(path)
  return Object.entries(node).flatMap(([name, value]) => [
    ...(isList && !value.description && !String(value.$ref).includes('/headers/') ? [`${path}.${name}`] : []),
    ...undescribed(value, `${path}.${name}`),
  ])
}
