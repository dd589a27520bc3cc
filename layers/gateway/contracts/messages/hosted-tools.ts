import type { Shape } from '../../wire/basics/shape.ts'
import * as is from '../../wire/basics/shape.ts'
import {
  type HostedTable,
  hostedPatterns,
  hostedRow,
  hostedShape,
  USER_LOCATION,
} from '../../wire/chat/hosted-tools.ts'
import { cacheMark } from '../../wire/chat/message-fields.ts'

const COMMON = {
  name: is.needed(is.text, 'a string'),
  max_uses: is.integer(1),
  // Code that calls it runs in a container, which is not offered.
  allowed_callers: is.list(is.option('direct')),
  ...is.each(is.list(is.text, 100), 'allowed_domains', 'blocked_domains'),
  ...is.each(is.flag, 'defer_loading', 'strict'),
  response_inclusion: is.word('full', 'excluded'),
  cache_control: cacheMark,
}
const SOURCE = is.object({
  type: is.word('all', 'none', 'only', 'except'),
  tools: is.list(is.object(is.each(is.text, 'type', 'name'))),
})

/** Anthropic bounds the calls of a tool by its `max_uses`. A tool without that could run up any bill. */
export const HOSTED: HostedTable = {
  web_search: { kind: 'webSearch', rows: { ...COMMON, user_location: USER_LOCATION } },
  web_fetch: {
    kind: 'webFetch',
    rows: {
      ...COMMON,
      citations: is.object({ enabled: is.flag }),
      max_content_tokens: is.integer(1),
      use_cache: is.flag,
      url_sources: is.object(is.each(SOURCE, 'client_tool_results', 'server_tool_results', 'user_input')),
    },
  },
  code_execution: { why: 'runs code in a container of the provider, and its calls cannot be bounded' },
  mcp_toolset: { why: 'calls a server by the provider, and its calls cannot be bounded' },
  advisor: { why: 'asks another model, whose price is not known' },
}

const SHAPES = new Map(Object.values(HOSTED).map((row) => [row, hostedShape(row)]))
export const HOSTED_PATTERNS = hostedPatterns(HOSTED)

/** The row of a tool that Anthropic runs. */
export const providerRow = (sent: unknown) => hostedRow(HOSTED, sent)

/** The shape of a tool that Anthropic runs. */
export function providerTool(sent: unknown): Shape | undefined {
  const row = providerRow(sent)
  return row && SHAPES.get(row)
}
