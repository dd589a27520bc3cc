import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { FASTER } from '../support/compile-cache.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const BIN = join(ROOT, 'node_modules', '.bin')

type Run = { readonly code: number | null; readonly output: string; readonly folder: string }

const folder = mkdtempSync(join(tmpdir(), 'waybill-synth-'))
const runs: Record<string, Run> = {}

const children: ChildProcess[] = []

// Two at once, as two pipelines may: each must come out as if it were alone.
beforeAll(async () => {
  await Promise.all([synth('dev', '-c', 'stage=dev'), synth('prod', '-c', 'stage=prod')])
  await Promise.all([
    synth('bare', '-c', 'edge=false'),
    synth('forgetful', '--app', 'node test/infra/fixtures/unacknowledged.ts'),
  ])
}, 300_000)
afterAll(() => {
  for (const child of children) child.kill()
  rmSync(folder, { recursive: true, force: true })
})

/** The real command, with no account, no network and nobody's settings. */
async function synth(name: string, ...args: string[]): Promise<void> {
  const out = join(folder, name)
  const nowhere = 'http://127.0.0.1:1'
  const child = spawn(join(BIN, 'cdk'), ['synth', '--quiet', '--no-notices', '-o', out, ...args], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      // As npm sets it for a script.
      PATH: [BIN, process.env.PATH].join(delimiter),
      HOME: folder,
      HTTP_PROXY: nowhere,
      HTTPS_PROXY: nowhere,
      http_proxy: nowhere,
      https_proxy: nowhere,
      AWS_EC2_METADATA_DISABLED: 'true',
      CDK_DISABLE_VERSION_CHECK: '1',
      CDK_DISABLE_CLI_TELEMETRY: 'true',
      NO_UPDATE_NOTIFIER: '1',
      CI: 'true',
      ...FASTER,
    },
  })
  children.push(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk
    })
  }
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  runs[name] = { code, output, folder: out }
}

const run = (name: string) => runs[name] as Run

describe('cdk synth, with no account and no network', () => {
  test.each([
    ['dev', 'Waybill-dev'],
    ['prod', 'Waybill-prod'],
    ['bare', 'Waybill-dev'],
  ])('makes %s without a finding that nobody has acknowledged', (name, stack) => {
    const { code, output, folder: out } = run(name)
    expect({ code, output }).toEqual({ code: 0, output: expect.not.stringContaining('AwsSolutions-') })
    expect(existsSync(join(out, `${stack}.template.json`))).toBe(true)
  })

  test('fails on a finding that nobody has acknowledged', () => {
    const { code, output } = run('forgetful')
    expect(code).toBe(1)
    expect(output).toContain('AwsSolutions-SMG4')
  })
})

describe('what is deployed', () => {
  /** The folders that CloudFormation is given, by the function's description or the layer's. */
  function assetOf(description: RegExp): string {
    const { Resources } = JSON.parse(readFileSync(join(run('dev').folder, 'Waybill-dev.template.json'), 'utf8'))
    type Code = { Properties: { Description?: string; Code?: { S3Key: string }; Content?: { S3Key: string } } }
    const found = Object.values<Code>(Resources).find(({ Properties }) =>
      description.test(Properties?.Description ?? ''),
    )
    const key = (found?.Properties.Code ?? found?.Properties.Content)?.S3Key.replace('.zip', '')
    return join(run('dev').folder, `asset.${key}`)
  }

  const chat = () => assetOf(/chat\/completions/)
  const layer = () => assetOf(/tiktoken/)
  const tokenizer = () => join(layer(), 'nodejs', 'node_modules', 'waybill-tokenizer', 'index.js')
  /** Some of the o200k ranks, which are nowhere but in them. */
  const ranks = () => {
    const file = createRequire(import.meta.url).resolve('js-tiktoken/ranks/o200k_base')
    return readFileSync(file, 'utf8').slice(100_000, 100_060)
  }

  test('chat is under a megabyte, and can be read in a stack trace', () => {
    expect(readdirSync(chat()).sort()).toEqual(['index.js', 'index.js.map'])
    expect(statSync(join(chat(), 'index.js')).size).toBeLessThan(1_000_000)
    expect(readFileSync(join(chat(), 'index.js'), 'utf8')).toMatch(/\/\/# sourceMappingURL=index\.js\.map\s*$/)
    const { sources, sourcesContent } = JSON.parse(readFileSync(join(chat(), 'index.js.map'), 'utf8'))
    expect(sources).toContainEqual(expect.stringMatching(/functions\/chat\/create\.ts$/))
    expect(sourcesContent).toBeUndefined()
  })

  test('the tokenizer is in the layer, where Lambda looks for it, and not in chat', () => {
    expect(readFileSync(tokenizer(), 'utf8')).toContain(ranks())
    expect(readFileSync(join(chat(), 'index.js'), 'utf8')).not.toContain(ranks())
  })

  test('chat starts without the tokenizer, and asks for it only when it must estimate', async () => {
    const handler = join(chat(), 'index.js')
    const asked: string[] = []
    const code = readFileSync(handler, 'utf8')
    expect(code.match(/require\("waybill-tokenizer"\)/g)).toHaveLength(1)
    Object.assign(globalThis, { awslambda: { streamifyResponse: (fn: unknown) => fn } })
    const module = { exports: {} as { handler?: unknown } }
    const real = createRequire(handler)
    const require = (name: string) => {
      asked.push(name)
      return real(name)
    }
    process.env.WAYBILL_KEYS_TABLE = 'keys'
    process.env.WAYBILL_USAGE_TABLE = 'usage'
    process.env.WAYBILL_ANSWERS_TABLE = 'answers'
    new Function('module', 'exports', 'require', '__filename', '__dirname', code)(
      module,
      module.exports,
      require,
      handler,
      chat(),
    )
    expect(module.exports.handler).toEqual(expect.any(Function))
    expect(asked).not.toContain('waybill-tokenizer')
    expect(asked.length).toBeGreaterThan(0)
  })

  test('the layer counts tokens by itself', () => {
    const { countTokens } = createRequire(import.meta.url)(tokenizer())
    expect(countTokens('hello world')).toBe(2)
  })
})
