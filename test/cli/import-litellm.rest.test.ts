import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { waybill } from '../support/command-line.ts'
import { emptyFolder } from '../support/processes.ts'

type Imported = Awaited<ReturnType<typeof imported>>
type Catalog = { providers: Record<string, Record<string, unknown>>; models: Record<string, unknown>[] }
type Result = { needs: string[]; no_counterpart: string[]; next: string[]; keys: number }
type Around = { folder?: string; env?: Record<string, string>; files?: Record<string, string>; keys?: unknown }

/** Imports a config. Keys that are a text are written as they are. */
async function imported(config: string, around: Around = {}, ...more: string[]) {
  const { folder = emptyFolder(), env = {}, files = {}, keys } = around
  const texts = { ...files, 'config.yaml': config, 'keys.json': typeof keys === 'string' ? keys : JSON.stringify(keys) }
  for (const [name, text] of Object.entries(texts)) if (text !== undefined) writeFileSync(join(folder, name), text)
  const args = ['import', 'litellm', 'config.yaml', ...(keys === undefined ? [] : ['--keys', 'keys.json']), ...more]
  const { code, stdout, stderr } = await waybill(folder, [...args, '--json'], env)
  const read = (file: string, otherwise = '') =>
    existsSync(join(folder, 'imported', file)) ? readFileSync(join(folder, 'imported', file), 'utf8') : otherwise
  const result: Result = code === 0 ? JSON.parse(stdout) : { needs: [], no_counterpart: [], next: [], keys: 0 }
  const catalog = JSON.parse(read('catalog.json', '{}')) as Catalog
  const omitted = result.no_counterpart.join('\n')
  return { code, printed: stdout + stderr, result, catalog, script: read('keys.sh'), omitted }
}

/** One model, with further lines of its parameters or its information. */
const model = (params = '', info = '') => `model_list:
  - model_name: m
    litellm_params:
      model: openai/gpt-4o
${params}
    model_info:
      max_input_tokens: 1000
      max_output_tokens: 100
${info}
`
const BEDROCK = `model_list:
  - {model_name: claude, litellm_params: {model: us.anthropic.claude-x, aws_region_name: os.environ/BASE}}
`
const priced = (input: string, output: string) =>
  `      input_cost_per_token: ${input}\n      output_cost_per_token: ${output}\n`
const PRICES = priced('1e-6', '2e-6')
const FINE = model('', PRICES)
/** One more model of the list. */
const another = (name: string, asked: string) => `  - {model_name: ${name}, litellm_params: {model: ${asked}}}\n`
/** A file to include. */
const MORE = 'model_list: [{model_name: n, litellm_params: {model: groq/x}}]\n'
const only = ({ catalog }: Imported) => catalog.models[0] as Record<string, unknown>

describe('prices', () => {
  test.each([
    ['0.00000012345', '1e-5', '0.12345', '10'],
    ['2.5e-06', '"0.00001"', '2.5', '10'],
    ['0.0000000000010000001e3', '1e-9', '0.001001', '0.001'],
  ])('%s and %s are exact, and rounded up beyond six decimals', async (input, output, ours, theirs) => {
    const made = await imported(model('', priced(input, output)))
    expect(only(made).price).toEqual({ input: ours, output: theirs })
    expect(made.result.needs).toEqual([])
  })

  test.each(['0', '0.0', '-1e-6', 'free', '2.5', '.inf', '.nan', '1:30', '[1]', '{}', '1e-40', '', 'null', 'true'])(
    'a price of %s is none: the model is hidden, and needs one',
    async (price) => {
      const made = await imported(model('', priced(price, '1e-5')))
      expect(made.result.needs).toEqual([expect.stringContaining('m needs a price')])
      expect(only(made)).toMatchObject({ active: false, price: { input: '1000', output: '1000' } })
      expect(made.result.next.join()).toContain('catalog prices imported/catalog.json')
    },
  )

  test('of two routes the dearer one makes the price, and one without a cost leaves the model without', async () => {
    const second = (cost: string) => `  - model_name: m
    litellm_params: { model: groq/x, ${cost}max_tokens: 5 }
    model_info: { max_input_tokens: 2000, max_output_tokens: 50 }
`
    const made = await imported(`${FINE}${second('input_cost_per_token: 3e-6, output_cost_per_token: 1e-6, ')}`)
    expect(only(made)).toMatchObject({ price: { input: '3', output: '2' }, contextLength: 2000 })
    expect((await imported(`${FINE}${second('')}`)).result.needs).toEqual([expect.stringContaining('a price')])
  })
})

describe('secrets', () => {
  const KEY = 'sk-proj-abcdefghijklmnop1234567890'
  test.each([
    `      api_key: ${KEY}`,
    `      api_key: os.environ/${KEY}`,
    `      api_key: [${KEY}]`,
    `      extra_headers: { Authorization: ${KEY} }`,
    `      api_base: https://me:${KEY}@example.com/v1`,
    `      api_base: https://example.com/v1?key=${KEY}`,
    `      aws_secret_access_key: ${KEY}`,
    `      api_key: "${KEY}`,
  ])('a key in the file reaches no file and no line: %s', async (line) => {
    const made = await imported(model(line, PRICES))
    const second = await imported(`${model(line, PRICES)}${another('other', 'groq/x')}`)
    for (const one of [made, second]) expect(JSON.stringify([one.printed, one.catalog])).not.toContain(KEY.slice(8))
  })

  test('a variable of AWS or of ours is not named, and none is read unasked', async () => {
    const made = await imported(model('      api_key: os.environ/AWS_SECRET_ACCESS_KEY', PRICES))
    expect(made.catalog.providers.openai?.apiKey).toBe('env:OPENAI_API_KEY')
    const base = model('      api_base: os.environ/BASE', PRICES)
    const unasked = await imported(base, { env: { BASE: 'https://example.com/v1' } })
    expect(unasked.printed).toContain('api_base is the variable BASE, whose value is read only with --env')
    expect(unasked.printed).not.toContain('example.com')
  })

  test.each([KEY, `https://me:${KEY}@example.com`, `https://example.com/?k=${KEY}`, `postgres://x:${KEY}@y/z`])(
    'a variable with a secret in place of an address makes no file and no line: %s',
    async (value) => {
      const config = model('      api_base: os.environ/BASE', PRICES)
      const made = await imported(config, { env: { BASE: value } }, '--env')
      const bedrock = await imported(BEDROCK, { env: { BASE: value } }, '--env')
      const named = await imported(config.replace('BASE', KEY), {}, '--env')
      for (const one of [made, bedrock, named]) {
        expect([one.code, one.catalog]).toEqual([1, {}])
        expect(one.printed).not.toContain(KEY.slice(8))
      }
    },
  )

  test('a provider’s usual key is not sent to another address', async () => {
    for (const field of ['api_base', 'base_url']) {
      const made = await imported(model(`      ${field}: https://example.com/v1`, PRICES))
      expect(made.catalog.providers.openai).toEqual({ type: 'openai', baseUrl: 'https://example.com/v1' })
    }
  })

  test('--secrets names secrets, and prints how to make each for its host', async () => {
    const made = await imported(FINE, {}, '--secrets')
    expect(made.catalog.providers.openai?.apiKey).toBe('secret:openai')
    expect(made.result.next[0]).toContain('waybill/STAGE/openai')
    expect(made.result.next[0]).toContain('"hosts": ["api.openai.com"]')
  })

  test.each(["x'$(touch a)'", 'x`touch`', 'x";touch'])('its commands run nothing that a host %s says', async (host) => {
    const address = JSON.stringify(`https://${host.replaceAll(' ', '')}.example/v1`)
    const config = model(`      api_key: os.environ/A_KEY\n      api_base: ${address}`, PRICES)
    const made = await imported(config, {}, '--secrets', '--out', "-it's; touch b")
    const folder = emptyFolder()
    const script = `aws() { printf '%s\\n' "$@"; }\nwaybill() { printf '%s\\n' "$@"; }\n${made.result.next.join('\n')}`
    const lines = execFileSync('bash', ['-c', script], { cwd: folder, encoding: 'utf8' }).split('\n')
    expect(JSON.parse(lines[5] ?? '').hosts).toEqual([new URL(JSON.parse(address)).host])
    expect([lines[8], readdirSync(folder)]).toEqual(["./-it's; touch b/catalog.json", []])
  })
})

describe('files that lie', () => {
  const laughs = Array.from({ length: 12 }, (_, i) => `a${i}: &a${i} [${i ? `*a${i - 1},`.repeat(9) : 'x'}]`).join('\n')
  test.each([
    ['nothing', ''],
    ['only a comment', '# none'],
    ['a list', '- a\n'],
    ['a number', '7'],
    ['no model_list', 'litellm_settings: {}'],
    ['a model_list that is none', 'model_list: 7'],
    ['an empty model_list', 'model_list: []'],
    ['entries that are none', 'model_list: [1, null, [], {}, x]'],
    ['text that is no YAML', 'model_list: [\n'],
    ['a name twice', 'model_list: []\nmodel_list: []'],
    ['an include of nothing', `include: [gone.yaml]\n${FINE}`],
    ['many includes', `include: [${'gone.yaml,'.repeat(51)}]\n${FINE}`],
    ['two documents', `${FINE}---\na: 1\n`],
    ['aliases that multiply', `${laughs}\n${FINE}`],
    ['100,000 aliases', `a: &a 1\nb: [${'*a,'.repeat(100_001)}]\n${FINE}`],
    ['an alias of itself', `a: &a [*a]\n${FINE}`],
    ['depth', `a: ${'['.repeat(5000)}${']'.repeat(5000)}\n${FINE}`],
    ['an alias of nothing', `a: *nobody\n${FINE}`],
    ['a name that is a map', `? {a: 1}\n: 2\n${FINE}`],
    ['bytes that are no text', '\u0000\u0001'],
    ['a file of 2 MB', `# ${'x'.repeat(2 * 1024 * 1024)}\n${FINE}`],
  ])('%s makes no file, and one line says why', async (_, config) => {
    const { code, printed, catalog } = await imported(config)
    expect([code, catalog]).toEqual([1, {}])
    expect(printed.split('\n')[0]).toMatch(/^.{10,300}\.$/)
    expect(printed).not.toMatch(/\n {4}at /)
  })

  test('names that look like days or prototypes are names', async () => {
    const day = FINE.replace('model_name: m', 'model_name: 2026-11-17')
    const made = await imported(`${day}${another('x', 'constructor/x')}__proto__: {a: 1}\n`)
    expect([made.code, made.catalog.models.map(({ id }) => id)]).toEqual([0, ['2026-11-17']])
    expect(made.omitted).toContain("the provider of 'constructor/x' is none of ours")
  })

  test('a folder that is there is not touched', async () => {
    const folder = emptyFolder()
    expect((await imported(FINE, { folder })).code).toBe(0)
    expect(statSync(join(folder, 'imported', 'catalog.json')).mode & 0o777).toBe(0o600)
    const again = await imported(FINE, { folder })
    expect([again.code, again.printed]).toEqual([1, expect.stringContaining('it is there already')])
  })
})

describe('what stands elsewhere than in the model list', () => {
  const AZURE = 'model_list:\n  - {model_name: m, litellm_params: {model: azure/gpt-4o}}\n'
  test.each([
    ['the environment', ['--env'], { env: { AZURE_API_BASE: 'https://mine.openai.azure.com/' } }, ''],
    ['a file', ['--env', '.env'], { files: { '.env': 'AZURE_API_BASE="https://mine.openai.azure.com"\n' } }, ''],
    ['the config itself', [], {}, 'environment_variables: {AZURE_API_BASE: https://mine.openai.azure.com}\n'],
  ])('an address is in a variable of %s', async (_, options, around, config) => {
    for (const azure of [AZURE, AZURE.replace('gpt-4o', 'gpt-4o, api_base: os.environ/AZURE_API_BASE')]) {
      const { catalog } = await imported(`${azure}${config}`, around, ...options)
      expect(catalog.providers.azure).toMatchObject({
        baseUrl: 'https://mine.openai.azure.com/openai/v1',
        apiKey: 'env:AZURE_API_KEY',
      })
    }
  })

  test('a variable that is not set is named', async () => {
    const made = await imported(AZURE, { env: { AZURE_API_BASE: '' } }, '--env')
    expect(made.printed).toContain('left out, because api_base is the variable AZURE_API_BASE, which is not set: m')
  })

  test('a region is in a variable, and Bedrock’s models are known without its name', async () => {
    const { catalog } = await imported(BEDROCK, { env: { BASE: 'eu-west-1' } }, '--env')
    expect(catalog.providers.bedrock).toEqual({ type: 'bedrock', region: 'eu-west-1' })
    expect(catalog.models[0]?.routes).toEqual([{ provider: 'bedrock', model: 'us.anthropic.claude-x' }])
  })

  test('a credential has the address and the key, and the model’s own fields win', async () => {
    const credentials = `credential_list:
  - credential_name: mine
    credential_values: {api_key: os.environ/MY_KEY, api_base: https://one.example.com/v1}
`
    const using = (name: string, more = '') =>
      imported(`${model(`      litellm_credential_name: ${name}\n${more}`, PRICES)}${credentials}`)
    const openai = { baseUrl: 'https://one.example.com/v1', apiKey: 'env:MY_KEY' }
    expect((await using('mine')).catalog.providers.openai).toMatchObject(openai)
    const own = await using('mine', '      api_base: https://two.example.com')
    expect(own.catalog.providers.openai).toMatchObject({ ...openai, baseUrl: 'https://two.example.com' })
    expect((await using('gone')).printed).toContain('left out: its credential is not in credential_list: m')
  })

  test('an alias is a model with the same routes, and one of nothing is said', async () => {
    const aliases = 'router_settings: {model_group_alias: {a: m, b: {model: m, hidden: true}, c: gone, m: m}}\n'
    const made = await imported(`${FINE}${aliases}`)
    const [first, ...others] = made.catalog.models
    expect(others).toEqual(['a', 'b'].map((id) => ({ ...first, id })))
    expect(made.omitted).toContain('an alias of a model that is not in the catalog is left out: c')
    expect(made.omitted).toContain('an alias that is the name of a model is left out: m')
  })

  test('aliases of a model with many routes do not multiply without end', async () => {
    const routes = another('many', 'groq/x').repeat(3000)
    const aliases = Array.from({ length: 3000 }, (_, i) => `a${i}: many`).join(', ')
    const made = await imported(`${FINE}${routes}router_settings: {model_group_alias: {${aliases}}}\n`)
    expect([made.code, made.catalog.models.length]).toEqual([0, 5])
    expect(made.omitted).toContain('further aliases are too many')
  })

  test('included files stand beside the config: their lists are added, and other fields replace', async () => {
    const files = { 'more.yaml': `${MORE}litellm_settings: {cache: true}\n` }
    const made = await imported(`include: [more.yaml]\n${FINE}litellm_settings: {callbacks: [x]}\n`, { files })
    expect(made.catalog.models.map(({ id }) => id)).toEqual(['m', 'n'])
    expect([made.omitted.includes('litellm_settings.cache'), made.omitted.includes('callbacks')]).toEqual([true, false])
  })

  describe('a config includes files of its own folder only', () => {
    const outside = emptyFolder()
    writeFileSync(join(outside, 'more.yaml'), MORE)

    /** A folder with a file, one below it, a folder whose name begins with two dots, and links. */
    function around(): string {
      const folder = emptyFolder()
      for (const name of ['below', '..data']) {
        mkdirSync(join(folder, name))
        writeFileSync(join(folder, name, 'more.yaml'), MORE)
      }
      symlinkSync(outside, join(folder, 'away'))
      symlinkSync(join(outside, 'more.yaml'), join(folder, 'away.yaml'))
      symlinkSync('..data/more.yaml', join(folder, 'near.yaml'))
      symlinkSync('/', join(folder, 'root'))
      return folder
    }
    const include = (folder: string, entry: string) =>
      imported(`include: [${JSON.stringify(entry)}]\n${FINE}`, { folder })

    test.each(['below/more.yaml', './below/more.yaml', '..data/more.yaml', 'near.yaml'])(
      '%s is read',
      async (entry) => {
        const made = await include(around(), entry)
        expect([made.code, made.catalog.models.map(({ id }) => id)]).toEqual([0, ['m', 'n']])
      },
    )

    test.each([
      ...['/etc/hostname', join(outside, 'more.yaml'), '../more.yaml', 'below/../../more.yaml', 'below/../near.yaml'],
      ...['..', '.', '', 'away.yaml', 'away/more.yaml', 'root/etc/hostname', '..\\more.yaml'],
    ])('%j is refused by its name, and nothing is made', async (entry) => {
      const folder = around()
      const made = await include(folder, entry)
      expect(made.code).toBe(1)
      expect(made.printed).toContain(`The config includes '${entry}', which is not a file in its own folder.`)
      expect(existsSync(join(folder, 'imported'))).toBe(false)
    })

    test.each(['gone.yaml', 'https://a.example/more.yaml', 'file:///etc/hostname', 'a\0b'])(
      '%j is no file there',
      async (entry) => {
        const made = await include(around(), entry)
        expect([made.code, made.printed]).toEqual([1, expect.stringContaining('cannot be read')])
      },
    )
  })

  test('of a name that stands twice the last one is taken, as LiteLLM does, and that is said; also among many', async () => {
    const many = `a: {${Array.from({ length: 40_000 }, (_, i) => `k${i}: 1,`).join('')} k0: 1}\n`
    const made = await imported(`${many}${model('', `${PRICES}      max_input_tokens: 7`)}`)
    expect(only(made)).toMatchObject({ contextLength: 7 })
    expect(made.omitted).toContain('a name stands twice in one place, and the last one is taken: k0, max_input_tokens')
  })
})

test('every field, setting and mode without a counterpart is said by its name', async () => {
  const params = '      temperature: 0.2\n      tpm: 7\n      input_cost_per_second: 1'
  const made = await imported(`${model(params, `${PRICES}      base_model: x`)}
litellm_settings: { cache: true, num_retries: 3, set_verbose: false, fallbacks: [{ m: [gone] }] }
router_settings: { routing_strategy: least-busy }
general_settings: { master_key: x }
environment_variables: { A: b }
guardrails: [{ a: b }]
`)
  const ofModel = ['litellm_params.temperature', 'litellm_params.tpm', 'litellm_params.input_cost_per_second']
  const settings = ['litellm_settings.cache', 'litellm_settings.num_retries', 'router_settings.routing_strategy']
  const others = ['model_info.base_model', 'general_settings.master_key', 'environment_variables', 'guardrails']
  for (const it of [...ofModel, ...settings, ...others]) expect(made.omitted).toContain(`${it} has no counterpart`)
  expect(made.omitted).toContain('a fallback of or to something that is not in the catalog')
  expect(made.omitted).not.toContain('set_verbose')
})

test.each(['vertex_ai/gemini', 'bedrock/anthropic.claude', 'azure/x', 'openai/*', 'unknown-model'])(
  'the model %s, which has no route here, is left out and said',
  async (asked) => {
    const made = await imported(`${FINE}${another('gone', asked)}`)
    expect([made.code, made.catalog.models.length]).toEqual([0, 1])
    expect(made.omitted).toMatch(/left out.*gone/)
  },
)

describe('keys', () => {
  const of = (key: object) => imported(FINE, { keys: { keys: [key] } })

  test('a budget is granted less its spend, never more, by exact numbers', async () => {
    const text = `{"keys":[{"key_alias":"a","max_budget":0.30000000000000004,"spend":0.1000000000000000055}]}`
    expect((await imported(FINE, { keys: text })).script).toContain(`--credits=0.2`)
    for (const max_budget of [6, null, 'x', -5, [], 'Infinity', true])
      expect((await of({ max_budget, spend: 7 })).script).not.toContain('--credits')
  })

  test.each([
    ['1d', '--daily-credits='],
    ['30d', '--monthly-credits='],
    ['7d', undefined],
    ['constructor', undefined],
  ])('a budget of %s is %s', async (budget_duration, option) => {
    const made = await of({ max_budget: 10, budget_duration })
    expect(made.omitted).toContain(`a budget of ${budget_duration}`)
    const options = ['--name=', '--credits=', '--reference=', ...(option ? [option] : [])]
    expect(made.script.split('keys create ')[1]?.match(/--[^=]*=/g)).toEqual(options)
  })

  test('each of budget_limits is a window, the smaller of two for one, and others are said', async () => {
    const limits = { '24h': 3, '30d': 40, '1mo': 50, '1h': 1, '1d': 'x' }
    const own = Object.entries(limits).map(([budget_duration, max_budget]) => ({ budget_duration, max_budget }))
    const budget_limits = [...own, 7, null]
    const made = await of({ max_budget: 100, budget_duration: '1d', budget_limits })
    expect(made.script).toMatch(/--credits=100 .*--daily-credits=3 --monthly-credits=40/)
    expect(made.omitted).toContain('an entry of budget_limits has no window here, or no amount')
    expect((await of({ budget_limits: [{ budget_duration: '1d', max_budget: 0 }] })).script).not.toContain('daily')
  })

  test.each([
    [{ blocked: true }, 'it is blocked'],
    [{ expires: '2020-01-01T00:00:00' }, 'it has expired'],
    [{ expires: 'soon' }, 'it has expired'],
    [{ models: ['all-team-models'] }, 'named by its team'],
    [{ models: Array(60).fill('m') }, 'not a list'],
    [{ models: [7, {}] }, 'not a list'],
  ])('no key is made of %p, and why is said', async (key, why) => {
    const made = await of({ key_alias: 'k', max_budget: 5, ...key })
    expect([made.result.keys, made.script]).toEqual([0, ''])
    expect(made.omitted).toContain(why)
  })

  test('a key that has not expired keeps its moment, in UTC if it has no zone', async () => {
    for (const expires of ['2099-01-02T03:04:05.678901', '2099-01-02T04:04:05.678+01:00']) {
      expect((await of({ expires })).script).toContain('--expires=2099-01-02T03:04:05.678Z')
    }
  })

  test('no text of the file gets out of its quotes', async () => {
    const name = `it's "$(touch x)" \`id\`; -\\n`
    const made = await of({ key_alias: name, token: 'a'.repeat(64), models: ['m'] })
    const rest = made.script.replaceAll(/'[^']*'|\\'/g, '').split('keys create ')[1]
    expect(rest).toBe('--name= --external-id=litellm-aaaaaaaaaaaaaaaa --models=m "$@"\n')
    expect((await of({ key_alias: 'a\nrm -rf x' })).script.trim().split('\n')).toHaveLength(1)
  })

  test.each([
    ['ids only', { keys: ['abc'] }, 'return_full_object=true'],
    ['another answer', { error: {} }, "no list 'keys'"],
    ['no JSON', '{', 'is not JSON'],
  ])('%s is refused', async (_, keys, why) => {
    expect(await imported(FINE, { keys })).toMatchObject({ code: 1, printed: expect.stringContaining(why) })
  })

  test('limits beyond ours, further pages and other settings are said', async () => {
    const key = { key_alias: 'k', rpm_limit: 1e9, tpm_limit: 0, team_id: 't', guardrails: ['x'], metadata: {} }
    const made = await imported(FINE, { keys: { keys: [key], total_pages: 3 } })
    expect(made.script).not.toContain('--rpm')
    const omitted = ['rpm_limit must be', 'tpm_limit must be', 'team_id has no', 'guardrails has no', 'one page of 3']
    for (const text of omitted) expect(made.omitted).toContain(text)
    expect(made.omitted).not.toContain('metadata')
  })
})
