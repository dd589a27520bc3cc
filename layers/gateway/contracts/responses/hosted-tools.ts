import type { JsonObject } from '../../domain/basics/json-object.ts'
import { isText } from '../../wire/basics/field-rules.ts'
import type { Read, Rows, Shape } from '../../wire/basics/shape.ts'
import * as is from '../../wire/basics/shape.ts'
import {
  type HostedRow,
  type HostedTable,
  hostedPatterns,
  hostedRow,
  hostedShape,
  USER_LOCATION,
} from '../../wire/chat/hosted-tools.ts'
import { address } from '../../wire/chat/message-fields.ts'

const DOMAINS = is.list(is.text, 100)
const SEARCH = {
  search_context_size: is.word('low', 'medium', 'high'),
  search_content_types: is.list(is.word('text', 'image')),
  user_location: USER_LOCATION,
  filters: is.object({ allowed_domains: DOMAINS, blocked_domains: DOMAINS }),
  external_web_access: is.flag,
} satisfies Rows
const RANKING = is.object({
  ranker: is.text,
  score_threshold: is.number(0, 1),
  hybrid_search: is.object({ embedding_weight: is.scalar, text_weight: is.scalar }),
})
const required = (shape: Shape) => is.needed(shape, 'a value')
/** A new container of the size that has the list price, or none: the id of another is left out with its tool. */
const containerOf = (type: string): Shape => {
  const fresh = is.object({ type: is.option(type), memory_limit: is.option('1g') })
  return required(is.shaped(fresh.schema, (sent, at) => (typeof sent === 'string' ? at.paid() : fresh(sent, at))))
}
const NAMES = is.list(is.text)
const FILTER = is.object({ read_only: is.flag, tool_names: NAMES })

/**
 * The provider's account belongs to all callers together. So nothing that is stored there passes, but the vector stores
 * that the model names for everybody, and no credential: it would stand in answers that are kept for a retry.
 */
export const HOSTED: HostedTable = {
  web_search: { kind: 'webSearch', rows: SEARCH },
  web_search_preview: { kind: 'webSearch', rows: SEARCH },
  file_search: {
    kind: 'fileSearch',
    rows: {
      vector_store_ids: required(is.list(is.text, 100)),
      max_num_results: is.integer(1, 50),
      filters: is.jsonObject,
      ranking_options: RANKING,
    },
  },
  code_interpreter: {
    kind: 'codeExecution',
    rows: { container: containerOf('auto') },
  },
  shell: {
    kind: 'codeExecution',
    rows: { environment: containerOf('container_auto') },
  },
  // Another model, more frames and a higher quality have other prices.
  image_generation: {
    kind: 'imageGeneration',
    rows: {
      action: is.option('generate', 'edit', 'auto'),
      background: is.word('transparent', 'opaque', 'auto'),
      moderation: is.word('auto', 'low'),
      output_compression: is.integer(0, 100),
      output_format: is.option('png', 'webp', 'jpeg'),
      quality: is.option('low', 'medium', 'high', 'auto'),
      size: is.option('1024x1024', '1024x1536', '1536x1024', 'auto'),
    },
  },
  mcp: {
    kind: 'mcpCall',
    rows: {
      server_label: required(is.text),
      server_url: required(address),
      server_description: is.text,
      allowed_tools: is.shaped({ anyOf: [NAMES, FILTER] }, (sent, at) =>
        (Array.isArray(sent) ? NAMES : FILTER)(sent, at),
      ),
      require_approval: is.textOr(is.object({ always: FILTER, never: FILTER }), 'an object', 'always', 'never'),
      defer_loading: is.flag,
    },
  },
  programmatic_tool_calling: { why: 'is run by the provider at a price that is not known' },
}

const SHAPES = new Map(Object.values(HOSTED).map((row) => [row, hostedShape(row)]))
const { shell: _, ...others } = HOSTED
/** For documents: all but a shell, which is one of the client's tools, too. */
export const HOSTED_PATTERNS = hostedPatterns(others)

/** The row of a tool that OpenAI runs. A shell is one only in a container. */
export function providerRow(sent: unknown): HostedRow | undefined {
  const row = hostedRow(HOSTED, sent)
  return row === undefined || isOnClient(sent as JsonObject) ? undefined : row
}

export function providerTool(sent: unknown): Shape | undefined {
  const row = providerRow(sent)
  return row && SHAPES.get(row)
}

function isOnClient({ type, environment }: JsonObject): boolean {
  const { type: where } = (environment ?? {}) as JsonObject
  return type === 'shell' && !(isText(where) && where.startsWith('container'))
}

/** The choice of a tool that OpenAI runs, by its type. */
export const hostedChoice =
  (otherwise: Read): Read =>
  (sent, at) =>
    hostedRow(HOSTED, sent) ? CHOICE(sent, at) : otherwise(sent, at)

export const CHOICE = is.object(is.each(is.text, 'type', 'server_label', 'name'))
