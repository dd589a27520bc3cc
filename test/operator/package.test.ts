import { type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import { parseSettings } from '../../infra/settings.ts'
import { readCatalogFile } from '../../operator/commands/read-catalog-file.ts'
import type { LocalFile } from '../../operator/connect/local-gateway.ts'
import { type Replies, startAwsAccount } from '../infra/support/aws-account.ts'
import { emptyFolder } from '../support/processes.ts'
import { until } from '../support/wait.ts'

jest.setTimeout(300_000)

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const NPM_QUIETLY = ['--no-audit', '--no-fund', '--loglevel=error']
const folder = emptyFolder()
const installed = join(folder, 'node_modules', 'waybill')
/** No Java, no npm, no tool of the clone: Node, and the programs of the package. */
const PATH = [join(folder, 'node_modules', '.bin'), dirname(process.execPath)].join(':')
const ENV = { PATH, HOME: folder, PORT: '0', FORCE_COLOR: '0' }
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))

const READY: Replies = {
  GetCallerIdentity: { body: '<Arn>arn:aws:iam::123456789012:user/ada</Arn><Account>123456789012</Account>' },
  'DescribeStacks CDKToolkit': {
    body: `<DescribeStacksResponse><DescribeStacksResult><Stacks><member><StackName>CDKToolkit</StackName>
<CreationTime>2026-11-15T00:00:00Z</CreationTime><StackStatus>CREATE_COMPLETE</StackStatus><Outputs><member><OutputKey>BootstrapVersion</OutputKey>
<OutputValue>30</OutputValue></member></Outputs></member></Stacks></DescribeStacksResult></DescribeStacksResponse>`,
  },
}

let cannotInstall: string | undefined
let stop: (() => Promise<unknown>) | undefined
let gateway: ReturnType<typeof spawn> | undefined

beforeAll(async () => {
  const packed = npm(ROOT, 'pack', '--json', '--pack-destination', folder)
  // A package that cannot be made is a fault of ours, one that cannot be installed may be the network's.
  expect([packed.status, packed.stderr]).toEqual([0, expect.anything()])
  const archive = readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? ''
  const { status, stderr } = npm(folder, 'install', '--prefer-offline', ...NPM_QUIETLY, `./${archive}`)
  if (status !== 0 && /E(NOTFOUND|CONNREFUSED|AI_AGAIN|TIMEDOUT|NETUNREACH)|ENOTCACHED/.test(stderr)) {
    cannotInstall = `npm cannot install here: ${stderr.split('\n')[0]}`
    console.warn(`The package is not tried. ${cannotInstall}`)
  } else expect([status, stderr]).toEqual([0, expect.anything()])
})
afterAll(async () => {
  gateway?.kill('SIGINT')
  await stop?.()
})

function npm(cwd: string, ...args: string[]): SpawnSyncReturns<string> {
  // The settings of the npm that runs these tests are not those of whoever installs the package.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)))
  return spawnSync('npm', args, { cwd, env, encoding: 'utf8' })
}

function waybill(...args: string[]): SpawnSyncReturns<string> {
  return spawnSync('waybill', args, { cwd: folder, env: ENV, encoding: 'utf8' })
}

/** Says in the report that it did nothing. */
function packageTest(name: string, run: () => unknown): void {
  test(name, async () => {
    if (cannotInstall === undefined) await run()
  })
}

packageTest('the package has JavaScript only, and brings nothing that builds or tests', () => {
  const files = readdirSync(installed, { recursive: true, encoding: 'utf8' })
  expect(files.filter((file) => /\.(ts|tsx|map)$/.test(file) && !file.includes('bundles'))).toEqual([])
  expect(files.filter((file) => !file.includes('/')).toSorted()).toEqual(
    [
      'LICENSE',
      'README.md',
      'catalog.schema.json',
      'dist',
      'package.json',
      'require-node.cjs',
      'waybill.js',
    ].toSorted(),
  )
  const there = Object.keys(manifest.devDependencies).filter((name) => existsSync(join(folder, 'node_modules', name)))
  expect(there).toEqual([])
  expect(readdirSync(join(folder, 'node_modules', '.bin')).toSorted()).toEqual(['cdk', 'node', 'waybill', 'yaml'])
})

packageTest('npx waybill starts a gateway that answers a chat; keys, usage and console work beside it', async () => {
  expect(waybill('--version').stdout).toBe(`${manifest.version}\n`)
  expect(waybill('keys', 'list', '--local').stderr).toContain("Start one with 'npx waybill'")
  const started = spawn('waybill', [], { cwd: folder, env: ENV })
  gateway = started
  let printed = ''
  for (const stream of [started.stdout, started.stderr]) stream.on('data', (chunk) => (printed += chunk))
  await until(() => {
    if (started.exitCode !== null) throw new Error(printed)
    return printed.includes('Ctrl-C')
  }, 60_000)
  expect(printed).not.toMatch(/npm (start|run)|Warning/)

  const local: LocalFile = JSON.parse(readFileSync(join(folder, '.waybill', 'local.json'), 'utf8'))
  const created = waybill('keys', 'create', '--name', 'packed', '--credits', '1', '--local', '--json')
  expect([created.status, created.stderr]).toEqual([0, ''])
  const { secret } = JSON.parse(created.stdout)
  const answer = await fetch(`${local.baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${secret}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ model: 'echo', messages: [{ role: 'user', content: 'Hello' }] }),
  })
  expect([answer.status, await answer.json()]).toMatchObject([
    200,
    { choices: [{ message: { content: 'echo: Hello' } }] },
  ])
  expect(JSON.parse(waybill('audit', '--local', '--json').stdout)).toBeTruthy()

  const page = await fetch(`${local.baseUrl}/usage`)
  expect([page.status, (await page.text()).includes('<script type="module">')]).toEqual([200, true])
  const [, address] = /console {3}(http:\/\/127\.0\.0\.1:\d+\/)/.exec(printed) ?? []
  for (const file of ['', 'console.js', 'console.css']) expect((await fetch(`${address}${file}`)).status).toBe(200)

  const console = spawn('waybill', ['console', '--no-open', '--port', '0', '--local'], { cwd: folder, env: ENV })
  let told = ''
  console.stdout.on('data', (chunk) => (told += chunk))
  const own = await until(() => /http:\/\/127\.0\.0\.1:\d+\//.exec(told)?.[0], 30_000)
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

/** In place of the real one, which needs an account: says what it was asked for, and runs the app as `cdk` does. */
const CDK = `const { spawnSync } = require('node:child_process')
const [args, app] = process.argv.slice(2).join(' ').split(' --app ')
console.log('cdk ' + args)
const env = { ...process.env, CDK_OUTDIR: 'cdk.out', CDK_DEFAULT_REGION: 'us-east-1', CDK_CONTEXT_JSON: '{"stage":"dev"}' }
process.exit(spawnSync(app, { shell: '/bin/sh', stdio: 'inherit', env }).status)`

packageTest(
  'deploy takes the prebuilt bundles and the files of the folder, and makes the stack of a clone',
  async () => {
    const account = await startAwsAccount()
    stop = async () => account.stop()
    account.replies = READY
    writeFileSync(join(folder, 'node_modules/aws-cdk/bin/cdk'), CDK)
    const settings = { dev: { logRetentionDays: 30 } }
    writeFileSync(join(folder, 'waybill.json'), JSON.stringify(settings))
    const args = ['deploy', '--stage', 'dev', '--require-approval', 'never']
    const deployed = await ended('waybill', args, { ...ENV, ...account.env })
    expect(deployed).toMatchObject({ code: 0 })
    expect(deployed.stdout).toContain(
      'cdk deploy --all --import-existing-resources --require-approval never -c stage=dev\n',
    )
    const packed = templateIn(join(folder, 'cdk.out'))
    expect(packed.retention).toEqual([30])
    const clone = join(folder, 'of-the-clone')
    const made = await ended(process.execPath, [join(ROOT, 'infra/app.ts')], {
      ...{ CDK_OUTDIR: clone, CDK_DEFAULT_REGION: 'us-east-1', WAYBILL_SETTINGS: join(folder, 'waybill.json') },
      CDK_CONTEXT_JSON: JSON.stringify(JSON.parse(readFileSync(join(ROOT, 'cdk.json'), 'utf8')).context),
    })
    expect(made).toMatchObject({ code: 0 })
    expect(packed).toEqual(templateIn(clone))

    rmSync(join(folder, 'catalog.json'))
    const without = await ended('waybill', args, { ...ENV, ...account.env })
    expect([without.code, without.stderr]).toEqual([
      1,
      expect.stringContaining("'npx waybill init' writes a first one"),
    ])
  },
)

function templateIn(out: string) {
  const { Resources } = JSON.parse(readFileSync(join(out, 'Waybill-dev.template.json'), 'utf8'))
  const all = Object.values<{ Type: string; Properties?: { RetentionInDays?: number } }>(Resources)
  const retention = [...new Set(all.flatMap(({ Properties }) => Properties?.RetentionInDays ?? []))]
  return { types: all.map(({ Type }) => Type).toSorted(), retention }
}

/** Beside this process, which may have to answer it. */
async function ended(program: string, args: string[], env: Record<string, string>) {
  const child = spawn(program, args, { cwd: folder, env })
  const [stdout, stderr, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise((resolve) => child.once('exit', resolve)),
  ])
  return { code, stdout, stderr }
}

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
  expect(waybill('start', '--dynamodb-local', '--memory').stderr).toContain('comes with a clone')
})
