import { type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { afterAll, expect, jest, test } from '@jest/globals'
import { readCatalogFile } from '../../cli/commands/read-catalog-file.ts'
import type { LocalFile } from '../../cli/connect/local-gateway.ts'
import { parseSettings } from '../../infra/settings.ts'
import { noStack } from '../infra/support/aws-account.ts'
import { butForNames, differencesOf } from '../infra/support/but-for-names.ts'
import { startCdkAccount } from '../infra/support/cdk-account.ts'
import { readZip } from '../infra/support/read-zip.ts'
import { assemblies } from '../support/assemblies.ts'
import { FASTER } from '../support/compile-cache.ts'
import { emptyFolder } from '../support/processes.ts'
import { until } from '../support/wait.ts'
import { ended } from './support/ended.ts'
import { installPackage } from './support/install-package.ts'
import { wordsOfAClone } from './support/words-of-a-clone.ts'

jest.setTimeout(300_000)

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const folder = join(emptyFolder(), 'a blank and an umläut')
const installed = join(folder, 'node_modules', 'waybill')
/** No Java, no npm, no tool of the clone: Node, and the programs of the package. */
const PATH = [join(folder, 'node_modules', '.bin'), dirname(process.execPath)].join(':')
const ENV = {
  ...FASTER,
  PATH,
  HOME: folder,
  PORT: '0',
  FORCE_COLOR: '0',
  CDK_DISABLE_CLI_TELEMETRY: 'true',
  CDK_NOTICES: 'false',
}
const ENV_WITH_NPM = { ...ENV, PATH: `${dirname(process.execPath)}:${process.env.PATH}` }
const readJson = (...path: string[]) => JSON.parse(readFileSync(join(...path), 'utf8'))
const manifest = readJson(ROOT, 'package.json')

const cdk = Object.entries(manifest.peerDependencies).map(([name, range]) => `${name}@${range}`)
const { missing } = installPackage(folder, cdk)
if (missing) console.warn(`The package is not tried. ${missing}`)
const packageTest = missing ? test.skip : test

const children: ReturnType<typeof spawn>[] = []
const account = await startCdkAccount()
afterAll(async () => {
  for (const child of children) if (child.exitCode === null) child.kill('SIGINT')
  await account[Symbol.asyncDispose]()
})

function waybill(...args: string[]): SpawnSyncReturns<string> {
  return spawnSync('waybill', args, { cwd: folder, env: ENV, encoding: 'utf8' })
}

function startWaybill(...args: string[]) {
  const child = spawn('waybill', args, { cwd: folder, env: ENV })
  children.push(child)
  return child
}

packageTest('the package has JavaScript and its types only, and brings nothing that builds or tests', () => {
  const files = readdirSync(installed, { recursive: true, encoding: 'utf8' })
  const declarations = ['dist/package/cdk/index.d.ts', 'dist/package/cdk/props.d.ts']
  const sources = files.filter((file) => /\.(ts|tsx|map)$/.test(file) && !file.includes('bundles'))
  expect(sources.toSorted()).toEqual(declarations)
  const texts = ['CHANGELOG.md', 'LICENSE', 'README.md', 'SECURITY.md', 'docs']
  const programs = ['dist', 'require-node.cjs', 'waybill.js', 'which-node.cjs']
  const top = [...texts, ...programs, 'catalog.schema.json', 'package.json']
  expect(files.filter((file) => !file.includes('/')).toSorted()).toEqual(top.toSorted())
  const { packages } = readJson(folder, 'package-lock.json')
  const { dependencies, optionalDependencies } = packages['node_modules/waybill']
  expect([dependencies, optionalDependencies]).toEqual([undefined, undefined])
  expect(readdirSync(join(folder, 'node_modules', '.bin')).toSorted()).toEqual(['cdk', 'waybill'])
  const withScripts = Object.keys(packages).filter((name) => packages[name].hasInstallScript)
  expect(withScripts).toEqual([])
})

packageTest('the package is below 25 MB, and names each library that is within it, with its license', () => {
  const sizes = readdirSync(installed, { recursive: true, encoding: 'utf8' }).map(
    (file) => statSync(join(installed, file)).size,
  )
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(25e6)
  const licenses = readFileSync(join(installed, 'dist/package/LICENSES.txt'), 'utf8')
  for (const name of ['@middy/core', '@aws-sdk/client-bedrock-runtime', 'js-tiktoken', 'preact', 'yaml', 'zod']) {
    expect(licenses).toContain(`${name} ${manifest.devDependencies[name]} (`)
  }
})

packageTest('the scripts of an app that has the package run the app’s own Node', () => {
  const app = emptyFolder()
  writeFileSync(join(app, 'package.json'), '{"scripts":{"which":"command -v node"}}')
  symlinkSync(join(folder, 'node_modules'), join(app, 'node_modules'))
  const { stdout, stderr } = spawnSync('npm', ['run', '-s', 'which'], { cwd: app, env: ENV_WITH_NPM, encoding: 'utf8' })
  expect([stdout, stderr]).toEqual([`${join(dirname(process.execPath), 'node')}\n`, ''])
})

packageTest('nothing in the package speaks of scripts and files that only a clone has', () => {
  expect(wordsOfAClone(installed, manifest.scripts)).toEqual([])
})

packageTest('npx waybill starts a gateway that answers a chat; keys, usage and console work beside it', async () => {
  expect(waybill('--version').stdout).toBe(`${manifest.version}\n`)
  expect(waybill('keys', 'list', '--local').stderr).toContain("Start one with 'npx waybill'")
  const started = startWaybill()
  let printed = ''
  for (const stream of [started.stdout, started.stderr]) stream.on('data', (chunk) => (printed += chunk))
  await until(() => {
    if (started.exitCode !== null) throw new Error(printed)
    return printed.includes('Ctrl-C')
  }, 60_000)
  expect(printed).not.toMatch(/npm (start|run)|Warning/)

  const local: LocalFile = readJson(folder, '.waybill', 'local.json')
  const created = waybill('keys', 'create', '--name', 'packed', '--credits', '1', '--local', '--json')
  expect([created.status, created.stderr]).toEqual([0, ''])
  const { secret } = JSON.parse(created.stdout)
  const answer = await fetch(`${local.baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${secret}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ model: 'echo', messages: [{ role: 'user', content: 'Hello' }] }),
  })
  const told = { choices: [{ message: { content: 'echo: Hello' } }] }
  expect([answer.status, await answer.json()]).toMatchObject([200, told])
  expect(JSON.parse(waybill('audit', '--local', '--json').stdout)).toBeTruthy()
  const smoked = waybill('smoke', '--local')
  expect([smoked.status, smoked.stderr, smoked.stdout]).toEqual([0, '', expect.stringContaining('All is well.')])

  const page = await fetch(`${local.baseUrl}/usage`)
  expect([page.status, (await page.text()).includes('<script type="module">')]).toEqual([200, true])
  const [, address] = /console {3}(http:\/\/127\.0\.0\.1:\d+\/)/.exec(printed) ?? []
  for (const file of ['', 'console.js', 'console.css']) expect((await fetch(`${address}${file}`)).status).toBe(200)

  const console = startWaybill('console', '--no-open', '--port', '0', '--local')
  let said = ''
  console.stdout.on('data', (chunk) => (said += chunk))
  const own = await until(() => /http:\/\/127\.0\.0\.1:\d+\//.exec(said)?.[0], 30_000)
  expect((await fetch(`${own}console.js`)).status).toBe(200)
  for (const child of [console, started]) {
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGINT')
    expect(await ended).toBe(0)
  }
})

packageTest('the tokenizer’s thread of the package counts', async () => {
  const thread = new Worker(join(installed, 'dist/package/local/tokenizer-worker.js'))
  const answered = new Promise((resolve, reject) => thread.once('message', resolve).once('error', reject))
  thread.postMessage({ id: 7, texts: ['Hello world'] })
  expect(await answered).toEqual({ id: 7, tokens: [2] })
  await thread.terminate()
})

packageTest(
  'init writes settings and a catalog that are valid and say what to change, and overwrites nothing',
  async () => {
    expect(waybill('init')).toMatchObject({ status: 0, stderr: '' })
    const [settings = '', catalog = ''] = ['waybill.json', 'catalog.json'].map((name) =>
      readFileSync(join(folder, name), 'utf8'),
    )
    expect(parseSettings(settings, 'waybill.json')).toEqual({ dev: {}, prod: { alarmEmail: 'you@example.com' } })
    expect((await readCatalogFile(join(folder, 'catalog.json'))).models.length).toBeGreaterThan(0)
    const [document = ''] = settings.match(/\S+\.md/) ?? []
    expect(readFileSync(join(folder, document), 'utf8')).toContain('### Settings')
    const { $comment, $schema } = JSON.parse(catalog)
    expect([$comment, JSON.parse(settings).$comment]).toEqual(Array(2).fill(expect.stringContaining('Change')))
    expect(existsSync(join(folder, $schema))).toBe(true)
    writeFileSync(join(folder, 'waybill.json'), '{"mine":1}')
    rmSync(join(folder, 'catalog.json'))
    expect(waybill('init').stdout).toMatch(/^waybill\.json is there already.*\ncatalog\.json is written/)
    expect(readFileSync(join(folder, 'waybill.json'), 'utf8')).toBe('{"mine":1}')
    expect(readFileSync(join(folder, 'catalog.json'), 'utf8')).toBe(catalog)
    writeFileSync(join(folder, 'waybill.json'), settings)
  },
)

const PREPARE = ['deploy', '--stage', 'dev', '--require-approval', 'never', '--method', 'prepare-change-set']

packageTest(
  'deploy takes the files of the folder, uploads the prebuilt bundles and makes the change set of a clone',
  async () => {
    const settings = join(folder, 'waybill.json')
    writeFileSync(settings, '{"dev":{"logRetentionDays":30}}')
    cpSync(join(ROOT, 'infra/catalog.json'), join(folder, 'catalog.json'))
    const packed = await prepared('waybill', PREPARE)
    expect(packed.template).toContain('"RetentionInDays": 30')
    const named = [...packed.template.matchAll(/"S3Key": "(\w+\.zip)"/g)].map(([, key = '']) => key)
    expect(named.length).toBeGreaterThan(5)
    const zips = [...packed.uploads].filter(([key]) => key.endsWith('.zip'))
    expect(zips.map(([key]) => key).toSorted()).toEqual([...new Set(named)].toSorted())
    const codes = zips.map(([, zip]) => readZip(zip).get('index.js')?.toString())
    for (const name of ['chat', 'api', 'tokenizer', 'sweep']) {
      expect(codes).toContain(readFileSync(join(installed, 'dist/package/bundles/functions', name, 'index.js'), 'utf8'))
    }
    const args = [join(ROOT, 'waybill.js'), ...PREPARE, '--output', join(folder, 'of-the-clone')]
    const clone = await prepared(process.execPath, args, { WAYBILL_SETTINGS: settings })
    // The CDK notes in its metadata that a clone's stack is checked by cdk-nag.
    const [made, known] = [packed, clone].map(({ template, uploads }) => {
      const { CDKMetadata: _, ...Resources } = JSON.parse(template).Resources
      const files = [...uploads.keys()].filter((key) => !uploads.get(key)?.toString().includes('CDKMetadata'))
      return { ...JSON.parse(template), Resources, files: files.toSorted() }
    })
    expect(made).toEqual(known)

    renameSync(join(folder, 'catalog.json'), join(folder, 'other.json'))
    const without = await inAccount('waybill', PREPARE)
    expect([without.code, without.stderr]).toEqual([1, expect.stringContaining("'npx waybill init' writes a first")])
    renameSync(join(folder, 'other.json'), join(folder, 'catalog.json'))

    const [peer, away] = [join(folder, 'node_modules', 'aws-cdk-lib'), join(folder, 'aws-cdk-lib')]
    renameSync(peer, away)
    const bare = await inAccount('waybill', PREPARE)
    renameSync(away, peer)
    expect([bare.code, bare.stderr]).toEqual([
      1,
      expect.stringMatching(
        /^A deployment needs the CDK, .* Run 'npm install waybill aws-cdk aws-cdk-lib constructs' in this folder\.\n$/,
      ),
    ])
  },
)

packageTest('bootstrap, diff and destroy ask AWS for what they are to do, by the real cdk', async () => {
  const bare = { 'DescribeStacks CDKToolkit': noStack('CDKToolkit') }
  const commands = [
    [['bootstrap', '--no-execute'], bare, 'CDKToolkit'],
    [['diff'], {}, 'Waybill-dev'],
    [['destroy', '--force'], {}, undefined],
  ] as const
  // The others at night: each makes the whole stack again.
  for (const [args, replies, stack] of process.env.TEST_CASES === 'all' ? commands : commands.slice(0, 1)) {
    account.changeSets.length = 0
    const whole = account.replies
    account.replies = { ...whole, ...replies }
    const { code, stdout, stderr } = await inAccount('waybill', [...args, '--stage', 'dev'])
    account.replies = whole
    expect([args, code, stdout + stderr]).toEqual([args, 0, expect.stringContaining('dev in eu-west-1: account')])
    expect(account.changeSets.map((it) => it.get('StackName'))).toEqual(stack ? [stack] : [])
  }
  expect(account.asked).toContain('DescribeStacks Waybill-dev cloudformation/eu-west-1')
})

/** Beside an account of AWS. */
const inAccount = (program: string, args: string[], env: Record<string, string> = {}) =>
  ended(program, args, folder, { ...ENV, ...env, ...account.env })

/** The real `cdk` up to its change set: the template of it, and all that was uploaded. */
async function prepared(program: string, args: string[], env: Record<string, string> = {}) {
  account.uploads.clear()
  account.changeSets.length = 0
  const { code, stdout, stderr } = await inAccount(program, args, env)
  expect([code, stdout, stderr]).toEqual([0, expect.stringContaining('dev in eu-west-1: account'), expect.anything()])
  const [changeSet, ...more] = account.changeSets
  expect([changeSet?.get('StackName'), changeSet?.get('ChangeSetType'), more]).toEqual(['Waybill-dev', 'CREATE', []])
  const template = account.uploads.get(changeSet?.get('TemplateURL')?.split('/').at(-1) ?? '')?.toString() ?? ''
  return { template, uploads: new Map(account.uploads) }
}

packageTest('the example app has the gateway of a clone’s stack, but for names', async () => {
  const app = join(folder, 'their app')
  cpSync(join(ROOT, 'examples/cdk'), app, { recursive: true })
  cpSync(join(ROOT, 'infra/catalog.json'), join(app, 'catalog.json'))
  const env = { ...ENV, AWS_EC2_METADATA_DISABLED: 'true' }
  expect(await ended('cdk', ['synth', '--quiet', '--output', 'made'], app, env)).toMatchObject({ code: 0 })
  const theirs = { stackName: 'Assistant', path: 'Assistant/Gateway' }
  const ours = { stackName: 'Waybill-prod', path: 'Waybill-prod/Default' }
  const made = butForNames(readJson(app, 'made', 'Assistant.template.json'), theirs, 'Waybill-prod')
  const known = butForNames(readJson(await assemblies(), 'prod', 'Waybill-prod.template.json'), ours, 'Waybill-prod')
  const different = differencesOf(made.Resources, known.Resources)
  // The stack that it is compared with has no address for alarms; the app has one, and is paged.
  const added = different.map((name) => [name in known.Resources, made.Resources[name]?.Properties.Protocol])
  expect(added.toSorted()).toEqual([...Array(3).fill([false, 'email']), [false, 'https']])
  expect(made.Outputs).toEqual(known.Outputs)
})

packageTest('the construct has types, with words for every property and attribute', () => {
  const declared = ['index.d.ts', 'props.d.ts'].map((file) =>
    readFileSync(join(installed, 'dist/package/cdk', file), 'utf8'),
  )
  const lines = declared.join('\n').split('\n')
  const bare = lines.filter((line, i) => /^ {4}readonly \w+/.test(line) && !lines[i - 1]?.trim().endsWith('*/'))
  expect(bare.map((line) => line.trim())).toEqual([])
  expect(declared.join('')).not.toMatch(/from '\.\.|\.ts'|zod/)
})

packageTest('a typo starts no gateway, and options of another command are refused', () => {
  for (const args of [['kyes'], ['--prot', '1'], ['start', '--stage', 'dev'], ['--json', 'start'], ['start', 'now']]) {
    expect([args, waybill(...args).status]).toEqual([args, 1])
  }
  for (const name of ['preflight', 'bootstrap', 'diff', 'deploy', 'destroy']) {
    expect(waybill(name).stderr).toBe(`Say which stage: npx waybill ${name} --stage dev\n`)
    expect(waybill(name, '--stage', 'nope').stderr).toContain("There is no stage 'nope'")
  }
  const { stdout, status } = waybill('start', '--help')
  expect([status, stdout.split('\n')[0]]).toEqual([0, 'npx waybill start [options]'])
  expect(stdout).not.toContain('dynamodb-local')
  expect(waybill('start', '--dynamodb-local', '--memory').stderr).toContain('comes with a clone')
})
