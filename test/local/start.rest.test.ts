import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { HOUR_MS } from '../../layers/gateway/domain/basics/time.ts'
import type { CatalogData, CatalogModel } from '../../layers/gateway/domain/routing/catalog.ts'
import { writeCatalog } from '../../layers/gateway/store/catalog/write-catalog.ts'
import { openTables } from '../../layers/gateway/store/dynamodb/dynamodb-client.ts'
import { readClosing } from '../../layers/gateway/store/rows/closing.ts'
import { momentOfHour } from '../../layers/gateway/store/rows/hour-sums.ts'
import { LOCAL_TABLES } from '../../local/database-thread.ts'
import { actAt } from '../support/act.ts'
import { emptyFolder, type Local, type Process, run, startLocal } from '../support/processes.ts'
import { openServer } from '../support/stack.ts'
import { until } from '../support/wait.ts'

const HELLO = { model: 'echo', messages: [{ role: 'user', content: 'Hello there' }] }

type Started = Process & { local: Local }

function ask({ baseUrl, demoKey }: Local, body: object): Promise<Response> {
  return fetch(`${baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${demoKey}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
}

function childrenOf(pid: number | undefined): string[] {
  try {
    return execFileSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' })
      .trim()
      .split(/\s+/)
      .filter(Boolean)
  } catch {
    return []
  }
}

const modeOf = (path: string): number => statSync(path).mode & 0o777

function canConnect(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 1000 })
    const end = (connected: boolean) => {
      socket.destroy()
      resolve(connected)
    }
    socket.once('connect', () => end(true))
    socket.once('error', () => end(false))
    socket.once('timeout', () => end(false))
  })
}

describe('three starts in one folder', () => {
  const folder = emptyFolder()
  const data = join(folder, '.waybill')
  const env = { OPENAI_API_KEY: 'sk-test-not-used' }
  let first: Started
  let second: Started
  let requestId: string | null

  test('npm start serves an echo model, prints lines to paste, and uses no colour off a terminal', async () => {
    mkdirSync(data, { mode: 0o755 })
    first = await startLocal(folder, env)
    const { stdout } = first.output
    expect(stdout).toContain(`base_url  ${first.local.baseUrl}/v1\n`)
    expect(stdout).toContain(first.local.demoKey)
    expect(stdout).toMatch(/curl http:\/\/127\.0\.0\.1:\d+\/v1\/chat\/completions/)
    expect(stdout).toMatch(
      /then http:\/\/127\.0\.0\.1:\d+ is enough\. Another browser:\n +npm run -s waybill -- console --local/,
    )
    expect(stdout).toContain('data      kept in .waybill')
    expect(stdout).not.toContain('\u001b[')
    expect(first.local.pid).toBe(first.child.pid)

    const whole = await ask(first.local, HELLO)
    requestId = whole.headers.get('x-request-id')
    expect(await whole.json()).toMatchObject({
      choices: [{ message: { content: 'echo: Hello there' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 2, completion_tokens: 3 },
    })
    const cut = await ask(first.local, { ...HELLO, max_tokens: 2, stream: true })
    const text = await cut.text()
    expect(text).toContain('"finish_reason":"length"')
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
  })

  test('npm start serves a console, whose printed address begins one session', async () => {
    const [, address = '', launch] =
      /console +(http:\/\/127\.0\.0\.1:\d+\/)#launch=(\S+)/.exec(first.output.stdout) ?? []
    const begin = () =>
      fetch(new URL('/console/session', address), {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ launch }),
      })
    const { token } = (await (await begin()).json()) as { token: string }
    expect((await begin()).status).toBe(401)
    const who = await fetch(new URL('/admin/v1/whoami', address), { headers: { 'X-Waybill-Console': token } })
    expect(await who.json()).toMatchObject({
      stage: 'local',
      base_url: `${first.local.baseUrl}/v1`,
      address: '127.0.0.1',
      protected: false,
    })
  })

  test('npm start and its database can be reached from this machine only', async () => {
    const ports = [first.local.baseUrl, first.local.dynamodbEndpoint].map((url) => Number(new URL(url).port))
    const outside = Object.values(networkInterfaces())
      .flat()
      .find((face) => face && !face.internal && face.family === 'IPv4')
    for (const port of ports) {
      if (outside) expect(await canConnect(outside.address, port)).toBe(false)
      expect(await canConnect('127.0.0.1', port)).toBe(true)
    }
  })

  test('a second start in the folder is refused in one line, and the first is left as it is', async () => {
    const before = readFileSync(join(data, 'local.json'), 'utf8')
    const { code, stderr } = await run('local/main.ts', ['--memory'], folder).ended
    expect(code).toBe(1)
    expect(stderr.trim().split('\n')).toHaveLength(1)
    expect(stderr).toContain(`already running in this folder at ${first.local.baseUrl}, as process ${first.child.pid}`)
    expect(stderr).toContain('--data FOLDER --port 0\n')
    expect(readFileSync(join(data, 'local.json'), 'utf8')).toBe(before)
    expect((await ask(first.local, HELLO)).status).toBe(200)
  })

  test('Ctrl-C leaves no process and no address', async () => {
    expect(childrenOf(first.child.pid)).toEqual([])
    first.child.kill('SIGINT')
    expect((await first.ended).code).toBe(0)
    expect(existsSync(join(data, 'local.json'))).toBe(false)
  })

  test('rows and demo key are there again; a provider whose key is in the environment is on, whatever is in the table', async () => {
    second = await startLocal(folder, env)
    expect(second.local.demoKey).toBe(first.local.demoKey)
    await putCatalog(second.local, { providers: {}, models: [{ id: 'not a model' } as CatalogModel] })
    const get = async (path: string) => {
      const headers = { Authorization: `Bearer ${second.local.demoKey}` }
      return (await fetch(`${second.local.baseUrl}${path}`, { headers })).json()
    }
    expect(await get(`/v1/usage/${requestId}`)).toMatchObject({ request_id: requestId, outcome: 'completed' })
    const { data: models } = (await get('/v1/models')) as { data: { id: string }[] }
    expect(models.map(({ id }) => id)).toEqual(['echo', 'gpt-4o-mini', 'gpt-4o'])
    expect(second.output.stdout).toContain('the catalog in the table is not valid')
    for (const { stdout, stderr } of [first.output, second.output]) {
      expect(stdout + stderr).not.toContain('sk-test-not-used')
    }
  })

  test('hours that have ended are added up from the start on, as on a stage', async () => {
    const tables = openTables(LOCAL_TABLES, endpointOf(second.local))
    let summed: string | undefined
    await until(async () => {
      summed = (await readClosing(tables)()).summedThrough
      return summed !== undefined
    }, 30_000)
    expect(Date.now() - momentOfHour(summed ?? '')).toBeLessThan(3 * HOUR_MS)
  })

  test('a catalog that an operator put in force stays so after a kill and another start, and the start says so', async () => {
    const { providers, models } = JSON.parse(readFileSync('local/catalog.json', 'utf8')) as CatalogData
    const cheaper = { ...(models[0] as CatalogModel), id: 'cheaper' }
    await putCatalog(second.local, { providers: { echo: echoAt(second.local) }, models: [cheaper] })
    expect(Object.keys(providers)).toContain('echo')
    second.child.kill('SIGKILL')
    await second.ended
    const third = await startLocal(folder, env)
    expect(third.output.stdout).toMatch(
      /version 3 of the catalog stays in force, as test put it there;\n.*was not loaded/,
    )
    const answer = await ask(third.local, { ...HELLO, model: 'cheaper' })
    expect(await answer.json()).toMatchObject({ choices: [{ message: { content: 'echo: Hello there' } }] })
    expect((await ask(third.local, HELLO)).status).toBe(404)

    expect(modeOf(data)).toBe(0o700)
    const files = readdirSync(data).map((name) => join(data, name))
    expect(files.length).toBeGreaterThanOrEqual(5)
    expect(files.filter((file) => modeOf(file) & 0o077)).toEqual([])
    third.child.kill('SIGTERM')
    await third.ended
    expect(readdirSync(data).sort()).toEqual(['data.sqlite', 'demo-key', 'echo-port', 'lock'])
  })
})

function endpointOf({ dynamodbEndpoint: endpoint, dynamodbCredentials: credentials }: Local) {
  return { endpoint, ...(credentials && { credentials }) }
}

async function putCatalog(local: Local, catalog: CatalogData): Promise<void> {
  const tables = openTables(LOCAL_TABLES, endpointOf(local))
  await writeCatalog(tables)(catalog, actAt())
}

function echoAt({ echoUrl }: Local): CatalogData['providers'][string] {
  return { type: 'openai', baseUrl: echoUrl } as CatalogData['providers'][string]
}

test('npm start --memory keeps nothing, beside another one with a folder of its own', async () => {
  const folder = emptyFolder()
  const [kept, other] = [await startLocal(folder), await startLocal(folder, { WAYBILL_DATA: 'other' }, ['--memory'])]
  expect(kept.local.baseUrl).not.toBe(other.local.baseUrl)
  expect(other.output.stdout).toContain('data      in memory, and gone at the end')
  expect(other.output.stdout).toContain(`WAYBILL_DATA=${join(folder, 'other')} npm run -s waybill -- console --local`)
  for (const [{ local }, env] of [
    [kept, {}],
    [other, { WAYBILL_DATA: 'other' }],
  ] as const) {
    const listed = await run('cli/waybill.ts', ['keys', 'list', '--local'], folder, env).ended
    expect(listed.stdout).toContain(local.demoKey.slice(-4))
  }
  for (const { child, ended } of [kept, other]) {
    child.kill('SIGTERM')
    await ended
  }
  expect(existsSync(join(folder, 'other', 'data.sqlite'))).toBe(false)
  expect(existsSync(join(folder, '.waybill', 'data.sqlite'))).toBe(true)
})

const NO_DATABASE = 'not a database, and long enough to have a header of its own'.repeat(20)
const NO_CATALOG = '{"providers":{},"models":[{"id":"m"}]}'
const MOVE = /^.*data\.sqlite' cannot be opened \(file is not a database\)\. Move.*\n$/
const UNKNOWN = /^Unknown option '--prot'\. What there is: npm start -- --help\n$/

test.each<[string, string, Record<string, string>, Record<string, string>, RegExp[]]>([
  ['with data that is none says where it lies', '--data .', {}, { 'data.sqlite': NO_DATABASE }, [MOVE]],
  ['with an option that it does not have says so', '--prot 1', {}, {}, [UNKNOWN]],
  ['with a catalog that is missing says so', '--catalog none.json', {}, {}, [/cannot be read \(ENOENT\)/]],
  ['with a catalog that is not JSON says so', '--catalog x.json', {}, { 'x.json': '{' }, [/is not JSON/]],
  [
    'with faults in its catalog gives every reason',
    '',
    { WAYBILL_CATALOG: 'x.json' },
    { 'x.json': NO_CATALOG },
    [/is not valid: models\[0\]/, /^also: /m],
  ],
])('npm start %s, and ends with 1', async (_, args, env, files, reasons) => {
  const folder = emptyFolder()
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content)
  const { code, stderr } = await run('local/main.ts', args.split(' ').filter(Boolean), folder, env).ended
  expect(code).toBe(1)
  for (const reason of reasons) expect(stderr).toMatch(reason)
  expect(stderr).not.toMatch(/ {4}at /)
})

test('npm start on a port in use says so and how to choose another, and leaves no child', async () => {
  const port = Number(new URL(await openServer(() => {})).port)
  const started = run('local/main.ts', [], emptyFolder(), { PORT: String(port) })
  const { code, stderr } = await started.ended
  expect(code).toBe(1)
  expect(stderr.trim()).toBe(`Port ${port} is already in use. Choose another: npm start -- --port ${port + 10}`)
  expect(childrenOf(started.child.pid)).toEqual([])
})

test('npm start that is ended while it is still starting ends without a word of failure', async () => {
  const folder = emptyFolder()
  const started = run('local/main.ts', [], folder)
  await until(() => existsSync(join(folder, '.waybill', 'lock')), 20_000)
  started.child.kill('SIGTERM')
  const { code, stderr } = await started.ended
  expect([code, stderr]).toEqual([0, ''])
})
