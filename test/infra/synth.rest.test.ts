import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { assemblies, cdkSynth, saidOfDev, type Variant } from '../support/assemblies.ts'
import { readFacts } from './support/synthesized.ts'

const folder = mkdtempSync(join(tmpdir(), 'waybill-synth-'))
let made = ''

beforeAll(async () => {
  made = await assemblies()
}, 300_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

type Report = {
  readonly pluginReports: readonly {
    readonly pluginName: string
    readonly conclusion: string
    readonly violations: readonly { readonly ruleName: string; readonly description: string }[]
  }[]
}

/** The report on a variant by which the command judges it. */
function reportOn(variant: Variant): Report {
  return JSON.parse(readFileSync(join(made, variant, 'validation-report.json'), 'utf8'))
}

describe('no account and no network', () => {
  test('cdk synth makes dev without a finding that nobody has acknowledged', async () => {
    expect(await saidOfDev()).not.toContain('AwsSolutions-')
  })

  test.each<Variant>(['prod', 'bare', 'mailed'])(
    'cdk synth accepts %s, which has no finding that nobody has acknowledged',
    (variant) => {
      const { pluginReports } = reportOn(variant)
      expect(pluginReports.map(({ pluginName }) => pluginName)).toContain('AwsSolutions')
      expect(pluginReports.map(({ conclusion }) => conclusion)).not.toContain('failure')
      expect(JSON.stringify(pluginReports.map(({ violations }) => violations))).not.toContain('AwsSolutions-')
    },
  )

  test('cdk synth warns that alarms reach nobody in a protected stage, and only there', () => {
    const warning = 'are mailed to nobody: set "alarmEmail", or subscribe to its topics'
    const warned = (variant: Variant) =>
      reportOn(variant).pluginReports.some(({ violations }) =>
        violations.some(({ description }) => description.includes(warning)),
      )
    expect((['prod', 'bare', 'mailed'] as const).map(warned)).toEqual([true, false, false])
  })

  test('cdk synth fails for a region without Function URLs, and says what to do', async () => {
    const { refusedRegion } = await readFacts()
    expect(refusedRegion).toContain('Lambda has no Function URLs in eu-central-2')
    expect(refusedRegion).toContain('choose another region, by AWS_REGION')
  })

  test('cdk synth fails on a finding that nobody has acknowledged', async () => {
    // Given a folder in place of the app, the command only judges what the app has made.
    const { error, output } = await cdkSynth(folder, ['--app', join(made, 'forgetful')])
    expect(reportOn('forgetful').pluginReports.map(({ conclusion }) => conclusion)).toEqual(['failure'])
    expect(error).not.toBeNull()
    expect(output).toContain('AwsSolutions-SMG4')
  }, 60_000)
})

describe('the deployed code', () => {
  /** The folders that CloudFormation is given, by the function's description. */
  function assetOf(description: RegExp): string {
    const { Resources } = JSON.parse(readFileSync(join(made, 'dev', 'Waybill-dev.template.json'), 'utf8'))
    type Asset = { S3Key: string }
    type Code = { Properties: { Description?: string; Code?: Asset; Content?: Asset } }
    const found = Object.values<Code>(Resources).find(({ Properties }) =>
      description.test(Properties?.Description ?? ''),
    )
    const key = (found?.Properties.Code ?? found?.Properties.Content)?.S3Key.replace('.zip', '')
    return join(made, 'dev', `asset.${key}`)
  }

  const chat = () => assetOf(/^Asks models/)
  const tokenizer = () => assetOf(/^Counts tokens/)
  /** Some of the o200k ranks, which are nowhere but in them. */
  const ranks = () => {
    const file = createRequire(import.meta.url).resolve('js-tiktoken/ranks/o200k_base')
    return readFileSync(file, 'utf8').slice(100_000, 100_060)
  }

  test('the chat function starts with less than 180 KiB of code, and can be read in a stack trace', () => {
    expect(statSync(join(chat(), 'index.js')).size).toBeLessThan(180 * 1024)
    expect(readFileSync(join(chat(), 'index.js'), 'utf8')).toMatch(/\/\/# sourceMappingURL=index\.js\.map\s*$/)
    const { sources, sourcesContent } = JSON.parse(readFileSync(join(chat(), 'index.js.map'), 'utf8'))
    expect(sources).toContainEqual(expect.stringMatching(/functions\/chat\/create\.ts$/))
    expect(sourcesContent).toBeUndefined()
  })

  test('chat starts without the AWS SDK and without what only some callers and catalogs need, and asks for each when it is needed', async () => {
    const handler = join(chat(), 'index.js')
    const asked: string[] = []
    const code = readFileSync(handler, 'utf8')
    const once = ['answers', 'contracts', 'dialects', 'error-reply']
    for (const lazy of once) expect(code.split(`require("./${lazy}.js")`)).toHaveLength(2)
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
    process.env.WAYBILL_TOKENIZER_FUNCTION = 'tokenizer'
    new Function('module', 'exports', 'require', '__filename', '__dirname', code)(
      module,
      module.exports,
      require,
      handler,
      chat(),
    )
    expect(module.exports.handler).toEqual(expect.any(Function))
    for (const lazy of ['bedrock', ...once]) expect(asked).not.toContain(`./${lazy}.js`)
    expect(asked).not.toContain('node:stream/web')
    expect(asked.length).toBeGreaterThan(0)
  })

  test('the tokenizer is in a layer of its own function, and in no function’s code', () => {
    const layer = join(assetOf(/^js-tiktoken/), 'nodejs', 'node_modules')
    expect(readFileSync(join(layer, 'waybill-tokenizer.js'), 'utf8')).toContain(ranks())
    // Nothing else is in it, so that it changes with its content only.
    expect(readdirSync(layer)).toEqual(['waybill-tokenizer.js'])
    expect(statSync(join(tokenizer(), 'index.js')).size).toBeLessThan(4 * 1024)
    const code = readFileSync(join(chat(), 'index.js'), 'utf8')
    expect(code).not.toContain(ranks())
    const { sources } = JSON.parse(readFileSync(join(chat(), 'index.js.map'), 'utf8')) as { sources: string[] }
    expect(sources.filter((source) => /tiktoken|count-tokens/.test(source))).toEqual([])
    expect(sources).toContainEqual(expect.stringMatching(/tokenizer\/sample-text\.ts$/))
  })
})
