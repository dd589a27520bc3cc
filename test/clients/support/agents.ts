import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { blocksOf, ROOT } from '../../documents/support/markdown.ts'

export const STEPS = ['write', 'edit', 'search', 'ring', 'read'] as const
export type Step = (typeof STEPS)[number]
type Place = { readonly baseUrl: string; readonly secret: string; readonly folder: string; readonly model: string }

export type Agent = {
  readonly package: string
  readonly pinned: string
  readonly command: string
  readonly models: readonly string[]
  /** The kind of upstream from which it carries thoughts to the next turn. */
  readonly speaks?: string
  /** True if `models` are names for which the agent sends others, by its version. */
  readonly hasAliases?: true
  /** Writes the agent's configuration and returns its environment. */
  readonly configure: (place: Place) => Readonly<Record<string, string>>
  readonly first: (prompt: string, model: string) => readonly string[]
  readonly next: (prompt: string, model: string) => readonly string[]
  /** The tools for a step, with their input. The model calls the first that the agent offers. */
  readonly tools: { readonly [S in Step]?: Readonly<Record<string, object | string>> }
  /** The agent's own words about a truncated output. */
  readonly complaint?: RegExp
}

const MCP = { command: join(ROOT, 'node_modules/.bin/node'), args: [join(ROOT, 'test/clients/support/mcp-server.ts')] }
const PATCH = '*** Begin Patch\n*** Update File: out.txt\n@@\n-hi\n+bye\n*** End Patch'
const CODEX = ['--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox']
const CODEX_MCP = Object.entries(MCP).flatMap(([name, value]) => [
  '-c',
  `mcp_servers.tiny.${name}=${JSON.stringify(value)}`,
])
const CLAUDE = ['--dangerously-skip-permissions', '--model']
const CLAUDE_MCP = ['--mcp-config', JSON.stringify({ mcpServers: { tiny: MCP } })]

/** opencode speaks chat completions, Responses or Messages, by the package that its configuration names. */
const OPENCODE_PACKAGES: Readonly<Record<string, string>> = {
  'gpt-5.5': '@ai-sdk/openai-compatible',
  'gpt-5.6-luna': '@ai-sdk/openai',
  'claude-sonnet-5-5': '@ai-sdk/anthropic',
}

/** Claude Code's names for its current models, each with another setting. */
const CLAUDE_SETTINGS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  opus: {},
  sonnet: { ENABLE_TOOL_SEARCH: 'true' },
  haiku: { MAX_THINKING_TOKENS: '8000' },
}

/** Codex calls tools one by one, or in JavaScript where the model takes code. */
const codex = (name: string, input: object | string) => ({
  [name]: input,
  exec: `text(await tools.${name}(${JSON.stringify(input)}))`,
})

/** The configuration for an agent in docs/clients.md, for this gateway and model. */
function documented(language: string, { baseUrl, model }: Place): string {
  const [block = ''] = blocksOf('docs/clients.md', language)
  return block
    .replaceAll('https://GATEWAY', baseUrl)
    .replace(/"gpt-5\.5"|waybill\/gpt-5\.5/g, (name) => name.replace('gpt-5.5', model))
}

export const AGENTS: Readonly<Record<string, Agent>> = {
  Codex: {
    package: '@openai/codex',
    pinned: '0.166.0',
    command: 'codex',
    models: ['gpt-5.5', 'openai/gpt-5.5', 'gpt-5.6-luna', 'gpt-6-astra'],
    speaks: 'Responses',
    configure(place) {
      writeFileSync(join(place.folder, 'config.toml'), documented('toml', place))
      return { CODEX_HOME: place.folder, WAYBILL_API_KEY: place.secret }
    },
    first: (prompt) => ['exec', ...CODEX, prompt],
    next: (prompt) => ['exec', 'resume', '--last', ...CODEX, ...CODEX_MCP, prompt],
    tools: {
      write: codex('exec_command', { cmd: 'printf "hi\\n" > out.txt' }),
      edit: codex('apply_patch', PATCH),
      search: {
        tool_search: { query: 'ring the bell' },
        exec: 'text(ALL_TOOLS.filter(({ name }) => /ring$/.test(name)))',
      },
      ring: { ring: {}, exec: 'text(await tools.mcp__tiny__ring({}))' },
      read: codex('exec_command', { cmd: 'cat out.txt' }),
    },
    complaint: /ERROR: Incomplete response returned, reason: max_output_tokens/g,
  },
  'Claude Code': {
    package: '@anthropic-ai/claude-code',
    pinned: '2.1.197',
    command: 'claude',
    models: Object.keys(CLAUDE_SETTINGS),
    hasAliases: true,
    speaks: 'Messages',
    configure(place) {
      const variables = documented('sh', place)
        .replace('$WAYBILL_API_KEY', place.secret)
        .matchAll(/(\w+)=(\S+)/g)
      return {
        ...Object.fromEntries([...variables].map(([, name, value]) => [name, value])),
        // Runs as root in containers, and calls nobody but the gateway.
        IS_SANDBOX: '1',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        ...CLAUDE_SETTINGS[place.model],
      }
    },
    first: (prompt, model) => ['-p', prompt, ...CLAUDE, model],
    next: (prompt, model) => ['-p', '--continue', prompt, ...CLAUDE, model, ...CLAUDE_MCP],
    tools: {
      write: { Write: { file_path: 'out.txt', content: 'hi\n' } },
      edit: { Edit: { file_path: 'out.txt', old_string: 'hi', new_string: 'bye' } },
      search: { ToolSearch: { query: 'select:mcp__tiny__ring' }, ring: {} },
      ring: { ring: {} },
      read: { Read: { file_path: 'out.txt' } },
    },
  },
  opencode: {
    package: 'opencode-ai',
    pinned: '1.18.33',
    command: 'opencode',
    models: Object.keys(OPENCODE_PACKAGES),
    configure(place) {
      const config = documented('jsonc', place).replace(/@ai-sdk\/[\w-]+/, OPENCODE_PACKAGES[place.model] ?? '')
      writeFileSync(join(place.folder, 'opencode.json'), config)
      return { WAYBILL_API_KEY: place.secret, OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_AUTOUPDATE: '1' }
    },
    first: (prompt) => ['run', prompt],
    next: (prompt) => ['run', '--continue', prompt],
    tools: {
      write: { bash: { command: 'printf "hi\\n" > out.txt', description: 'Writes hi' } },
      edit: { apply_patch: { patchText: PATCH }, edit: { filePath: 'out.txt', oldString: 'hi', newString: 'bye' } },
      read: { read: { filePath: 'out.txt' } },
    },
  },
}
