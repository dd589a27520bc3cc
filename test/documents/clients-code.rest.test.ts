import { spawnSync } from 'node:child_process'
import { symlinkSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import { SCOPES } from '../../layers/gateway/endpoints.ts'
import { embed, embeddingCatalog, vectorAt } from '../support/embeddings.ts'
import { emptyFolder } from '../support/processes.ts'
import { INSTALL, missingModules, PYTHON_MODULES, runPython } from '../support/python.ts'
import { openFor, openUpstream } from '../support/stack.ts'
import { say } from '../support/upstream.ts'
import { BLOCKS, type Block, PAIRS } from './support/client-code.ts'
import { blocksOf, ROOT } from './support/markdown.ts'

let secret: string

const upstream = await openUpstream((response, request) =>
  (request.body.input ? embed() : say('Hello there'))(response, request),
)
const gateway = await openFor(embeddingCatalog([upstream.url]))
beforeEach(async () => {
  upstream.requests.length = 0
  ;({ secret } = await gateway.issue({ scopes: SCOPES }))
})
afterEach(() => void jest.restoreAllMocks())
afterAll(() => {
  delete process.env.WAYBILL_API_KEY
})

/** The lines that a block prints, in either language; numbers and lists as values. */
const PRINTED: Readonly<Record<string, readonly unknown[]>> = {
  Headers: ['Hello there', expect.stringMatching(/^req_/), 0.00002],
  Streaming: ['Hello there', 0.00002],
  Errors: [expect.stringMatching(/^404 model_not_found req_\w+$/)],
  Quotes: [expect.any(Number)],
}

const isEmbedding = ({ code }: Block) => code.includes('Embeddings')
const printedBy = (block: Block) =>
  isEmbedding(block) ? [[vectorAt(0), vectorAt(1)]] : (PRINTED[block.heading] ?? ['Hello there'])
const titled = (block: Block) => [`${block.heading}, with ${block.packages.join(' and ')}`, block] as const

const TYPESCRIPT = BLOCKS.filter(({ language }) => language === 'ts')
const PYTHON = BLOCKS.filter(({ language }) => language === 'python')
const missing = missingModules()
const canRun = ({ language, packages }: Block) => language === 'ts' || packages.every((name) => !missing.includes(name))

test.each(TYPESCRIPT.map(titled))('the TypeScript in docs/clients.md runs as it is: %s', async (_, block) => {
  expect(await runTypeScript(block)).toEqual(printedBy(block))
})

test('the TypeScript in docs/clients.md has no errors of types', () => {
  const folder = emptyFolder()
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  const files = TYPESCRIPT.map(({ code }, at) => {
    writeFileSync(join(folder, `${at}.mts`), `${code}export {}\n`)
    return `${at}.mts`
  })
  const options = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--types', 'node']
  const { stdout } = spawnSync(join(ROOT, 'node_modules/.bin/tsc'), [...options, ...files], { cwd: folder })
  expect(stdout.toString()).toBe('')
})

const testIf = (block: Block) => (canRun(block) ? test : test.skip)
const why = (block: Block) => (canRun(block) ? '' : ` (not run: its library is missing; get it with: ${INSTALL})`)

for (const [title, block] of PYTHON.filter(({ heading }) => heading !== 'Retries').map(titled)) {
  testIf(block)(`the Python in docs/clients.md runs as it is: ${title}${why(block)}`, async () => {
    expect(await runBlock(block)).toEqual(printedBy(block))
  })
}

for (const block of BLOCKS.filter(({ heading }) => heading === 'Retries')) {
  testIf(block)(
    `a request that is repeated as docs/clients.md says asks a provider once: ${block.language}${why(block)}`,
    async () => {
      for (let run = 0; run < 2; run++) expect(await runBlock(block)).toEqual(['Hello there'])
      expect(upstream.requests).toHaveLength(1)
    },
  )
}

const [readme = ''] = blocksOf('README.md', 'python')
const readmeBlock: Block = { language: 'python', heading: '', code: readme, packages: ['openai'] }

testIf(readmeBlock)(`the Python in README.md runs as it is${why(readmeBlock)}`, async () => {
  const code = readme.replace('http://127.0.0.1:8787', 'https://GATEWAY').replace('"echo"', '"MODEL"')
  const block = { ...readmeBlock, code: code.replace('WAYBILL_KEY', 'WAYBILL_API_KEY') }
  expect(await runBlock(block)).toEqual(['Hello there'])
})

test('docs/clients.md has code for each SDK that is tested', () => {
  const packages = new Set(TYPESCRIPT.map((block) => block.packages.join(' and ')))
  expect([...packages]).toEqual([
    'openai',
    '@anthropic-ai/sdk',
    '@ai-sdk/openai-compatible and ai',
    '@ai-sdk/openai and ai',
    '@openrouter/ai-sdk-provider and ai',
    '@openai/agents',
    '@langchain/openai',
  ])
})

test('code for a library that Python has, too, is there in both languages, one after the other', () => {
  const both = ['openai', '@anthropic-ai/sdk', '@langchain/openai']
  const wanted = TYPESCRIPT.filter(({ packages }) => both.includes(packages.join(' and ')))
  expect(wanted.length).toBeGreaterThan(6)
  expect(PAIRS.map(([typescript]) => typescript)).toEqual(wanted)
  expect(PAIRS.filter(([, python]) => python.packages.some((name) => !PYTHON_MODULES.includes(name)))).toEqual([])
})

const AsyncFunction = (async () => {}).constructor as new (
  ...source: string[]
) => (...given: unknown[]) => Promise<void>

const runBlock = (block: Block) => (block.language === 'ts' ? runTypeScript(block) : runPythonBlock(block))

/** Runs a block as the body of a function, which is given what loads modules. */
async function runTypeScript(block: Block): Promise<unknown[]> {
  const log = jest.spyOn(console, 'log').mockReturnValue()
  process.env.WAYBILL_API_KEY = secret
  const body = stripTypeScriptTypes(here(block))
    .replaceAll(/^import (\w+) from ('.+')$/gm, 'const { default: $1 } = await load($2)')
    .replaceAll(/^import (\{.+\}) from ('.+')$/gm, 'const $1 = await load($2)')
  await new AsyncFunction('load', body)((name: string) => import(name))
  const lines = log.mock.calls.map((told) => told.map(asText).join(' '))
  log.mockRestore()
  return lines.map(asValue)
}

async function runPythonBlock(block: Block): Promise<unknown[]> {
  const printed = await runPython(here(block), { WAYBILL_API_KEY: secret })
  return printed.trimEnd().split('\n').map(asValue)
}

/** A block for this gateway and its model. */
function here(block: Block): string {
  const model = isEmbedding(block) ? 'test-embedding' : 'test-model'
  return block.code.replaceAll('https://GATEWAY', gateway.baseUrl).replaceAll('MODEL', model)
}

function asText(told: unknown): string {
  return typeof told === 'string' ? told : JSON.stringify(told)
}

/** Python writes 2e-05 and 0.0 where JavaScript writes 0.00002 and 0. */
function asValue(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return line
  }
}
