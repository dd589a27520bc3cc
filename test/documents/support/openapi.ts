import { readFileSync } from 'node:fs'
import { z } from 'zod'

type Node = { readonly [name: string]: unknown }
type Content = Readonly<Record<string, { readonly schema: Node; readonly example?: unknown }>>

export type DocumentedAnswer = {
  readonly description: string
  readonly headers?: Readonly<Record<string, { readonly schema?: Node }>>
  readonly content: Content
}

export type Operation = {
  readonly parameters?: readonly { readonly name: string; readonly in: string }[]
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<Record<string, DocumentedAnswer | Node>>
}

type OpenApi = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: {
    readonly headers: Readonly<Record<string, { readonly required?: boolean; readonly schema: Node }>>
    readonly responses: Readonly<Record<string, DocumentedAnswer>>
    readonly schemas: Readonly<Record<string, Node>>
  }
}

const SCHEMAS = '#/components/schemas/'
const RESPONSES = '#/components/responses/'

export function readOpenApi(name: string) {
  const text = readFileSync(new URL(`../../../docs/${name}`, import.meta.url), 'utf8')
  const document = JSON.parse(text) as OpenApi
  const { responses: common, ...rest } = document.components
  const schemas = hardened(rest.schemas) as Node
  const checkers = new Map<Node, z.ZodType>()

  function newChecker(schema: Node): z.ZodType {
    const whole = JSON.stringify({ ...(hardened(schema) as Node), $defs: schemas })
    return z.fromJSONSchema(JSON.parse(whole.replaceAll(SCHEMAS, '#/$defs/')))
  }

  return {
    document,
    /** A checker of values by a schema of the document, in which every field that an answer has must be named. */
    checkerOf(schema: Node): z.ZodType {
      const checker = checkers.get(schema) ?? newChecker(schema)
      checkers.set(schema, checker)
      return checker
    },
    answerOf({ responses }: Pick<Operation, 'responses'>, status: number): DocumentedAnswer | undefined {
      const found = responses[String(status)]
      const ref = found && '$ref' in found ? String(found.$ref).slice(RESPONSES.length) : undefined
      return ref === undefined ? (found as DocumentedAnswer | undefined) : common[ref]
    },
    /** The components that are there, and those that something refers to. */
    components(): { readonly there: string[]; readonly referred: string[] } {
      const { securitySchemes: _, ...kinds } = document.components as Record<string, object>
      const there = Object.entries(kinds).flatMap(([kind, named]) => Object.keys(named).map((it) => `${kind}/${it}`))
      const found = [...text.matchAll(/"#\/components\/(\w+\/[\w-]+)"/g)].map(([, path = '']) => path)
      return { there: there.toSorted(), referred: [...new Set(found)].toSorted() }
    },
  }
}

export const { document: openApi, checkerOf, answerOf, components } = readOpenApi('openapi.json')

export function operation(path: string, method: string): Operation {
  const found = openApi.paths[path]?.[method]
  if (!found) throw new Error(`docs/openapi.json has no ${method} ${path}`)
  return found
}

/** An id with slashes is to the document an id like any other. */
export function documentedPath(route: string): string {
  return route.replace('{id+}', '{id}')
}

/** The document leaves room for new fields, as clients should; these tests do not. */
function hardened(node: unknown): unknown {
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
