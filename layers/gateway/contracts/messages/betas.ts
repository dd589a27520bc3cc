import type { UnknownField } from '../../domain/chat/chat.ts'

// Anthropic's names for what is not part of its API yet, without their dates.

/** They change how a request is read or answered, and no price. `fast-mode` goes with the tier that it asks for. */
export const FREE_BETAS: ReadonlySet<string> = new Set([
  ...['advanced-tool-use', 'cache-diagnosis', 'claude-code', 'compact', 'computer-use', 'context-management'],
  ...['dev-full-thinking', 'effort', 'extended-cache-ttl', 'fine-grained-tool-streaming', 'inline-tools'],
  ...['interleaved-thinking', 'mid-conversation-output-config', 'mid-conversation-system-clear-at'],
  ...['mid-conversation-tool-changes', 'model-context-window-exceeded', 'output-128k', 'output-300k', 'pdfs'],
  ...['per-turn-control', 'prompt-caching', 'prompt-caching-scope', 'redact-thinking', 'structured-outputs'],
  ...['task-budgets', 'thinking-binding-controls', 'thinking-display-updates', 'thinking-token-count'],
  ...['token-counting', 'token-efficient-tools', 'tool-examples', 'tool-search-tool'],
])

/** They name what is stored at Anthropic, other prices and payers, tools that it runs, or other parts of its API. */
export const LEFT_OUT_BETAS: ReadonlySet<string> = new Set([
  ...['admin-user-sign-out', 'advisor-tool', 'agent-memory', 'analytics-usage-cost', 'ce-plugins'],
  ...['ce-user-management', 'code-execution', 'context-1m', 'dreaming', 'experimental-claude-tag', 'fallback-credit'],
  ...['fast-mode', 'files-api', 'managed-agents', 'mcp-client', 'mcp-tunnels', 'message-batches', 'message-threads'],
  ...['server-side-fallback', 'skills', 'spend-limit-reads', 'telemetry-destinations', 'user-profiles'],
  ...['user-profiles-billing', 'webhooks'],
])

const MOST_BETAS = 64
const NAME = /^[a-z0-9-]{1,64}$/

export const withoutDate = (beta: string) => beta.replace(/-\d{4}-?\d{2}-?\d{2}$/, '')

type Betas = { readonly passed: readonly string[]; readonly left: readonly UnknownField[] }

/** The values of the header that go to Anthropic, and those that are left out and reported. */
export function readBetas(header: string | undefined): Betas {
  const names = (header ?? '').split(',').map((name) => name.trim())
  const known = [...new Set(names)].filter((name) => NAME.test(name)).slice(0, MOST_BETAS)
  const isFree = (name: string) => FREE_BETAS.has(withoutDate(name))
  return { passed: known.filter(isFree), left: known.filter((name) => !isFree(name)).map(leftOut) }
}

function leftOut(beta: string): UnknownField {
  const name = `anthropic-beta.${beta}`
  const complaint = () => `The header anthropic-beta has the value '${beta}', which is not passed on.`
  return { root: 'anthropic-beta', name, param: name, code: 'unsupported_parameter', complaint, isOptional: true }
}
