import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { describe, expect, jest, test } from '@jest/globals'
import type { CatalogModel } from '../../layers/gateway/domain/catalog.ts'
import { writeCatalog } from '../../layers/gateway/store/catalog/write-catalog.ts'
import { openOperatorTables } from '../../layers/gateway/store/operator-tables.ts'
import { findProcess } from '../../local/running-process.ts'
import { LOCAL_TABLES } from '../../operator/local-gateway.ts'
import { actAt } from '../support/act.ts'
import { emptyFolder, type Local, type Process, run, startLocal } from '../support/processes.ts'

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

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
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

jest.setTimeout(90_000)

describe('three starts in one folder', () => {
  const folder = emptyFolder()
  const data = join(folder, 'data')
  const env = { WAYBILL_DATA: data, OPENAI_API_KEY: 'sk-test-not-used' }
  let first: Started
  let requestId: string | null
  let left: number[]

  test('npm start serves an echo model, prints lines to paste, and uses no colour off a terminal', async () => {
    mkdirSync(data, { mode: 0o755 })
    first = await startLocal(folder, env)
    const { stdout } = first.output
    expect(stdout).toContain(`base_url  ${first.local.baseUrl}/v1\n`)
    expect(stdout).toContain(first.local.demoKey)
    expect(stdout).toMatch(/curl http:\/\/127\.0\.0\.1:\d+\/v1\/chat\/completions/)
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

    const curl = /^ {2}(curl .*)$/m.exec(stdout)?.[1] ?? 'false'
    expect(execFileSync('sh', ['-c', `${curl} -s`], { encoding: 'utf8' })).toContain('echo: Hello')
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

  test('npm start can be reached from this machine only', async () => {
    const port = Number(new URL(first.local.baseUrl).port)
    const outside = Object.values(networkInterfaces())
      .flat()
      .find((face) => face && !face.internal && face.family === 'IPv4')
    if (outside) expect(await canConnect(outside.address, port)).toBe(false)
    expect(await canConnect('127.0.0.1', port)).toBe(true)
  })

  test('Ctrl-C leaves no process and no note of one', async () => {
    const children = childrenOf(first.child.pid).map(Number)
    expect(children.length).toBeGreaterThan(0)
    first.child.kill('SIGINT')
    expect((await first.ended).code).toBe(0)
    expect(children.filter(isAlive)).toEqual([])
    expect(existsSync(join(folder, '.waybill', 'local.json'))).toBe(false)
  })

  test('WAYBILL_DATA keeps rows and demo key; a provider whose key is in the environment is on, whatever is in the table', async () => {
    const second = await startLocal(folder, env)
    expect(second.local.demoKey).toBe(first.local.demoKey)
    const tables = openOperatorTables(LOCAL_TABLES, { endpoint: second.local.dynamodbEndpoint })
    await writeCatalog(tables)({ providers: {}, models: [{ id: 'not a model' } as CatalogModel] }, actAt())
    tables.client.destroy()
    const get = async (path: string) => {
      const headers = { Authorization: `Bearer ${second.local.demoKey}` }
      return (await fetch(`${second.local.baseUrl}${path}`, { headers })).json()
    }
    expect(await get(`/v1/usage/${requestId}`)).toMatchObject({ request_id: requestId, outcome: 'completed' })
    const { data } = (await get('/v1/models')) as { data: { id: string }[] }
    expect(data.map(({ id }) => id)).toEqual(['echo', 'gpt-4o-mini', 'gpt-4o'])
    expect(second.output.stdout).toContain('the catalog in the table is not valid')
    for (const { stdout, stderr } of [first.output, second.output]) {
      expect(stdout + stderr).not.toContain('sk-test-not-used')
    }
    left = childrenOf(second.child.pid).map(Number)
    second.child.kill('SIGKILL')
    await second.ended
  })

  test('the start after a kill ends the database that was left, and all that is kept is for its owner only', async () => {
    expect(left.filter(isAlive)).toHaveLength(1)
    const third = await startLocal(folder, env)
    // One that ended and waits for its parent to take note has no command line any more.
    for (const pid of left) expect((await findProcess(pid))?.command ?? '').toBe('')
    expect(third.output.stdout).toContain('Ended the database that a killed start had left behind.')
    expect(third.local.demoKey).toBe(first.local.demoKey)
    expect([data, join(folder, '.waybill')].map(modeOf)).toEqual([0o700, 0o700])
    const files = [data, join(folder, '.waybill')].flatMap((at) => readdirSync(at).map((name) => join(at, name)))
    expect(files.length).toBeGreaterThanOrEqual(4)
    expect(files.filter((file) => modeOf(file) & 0o077)).toEqual([])
    third.child.kill('SIGTERM')
    await third.ended
    expect(readdirSync(join(folder, '.waybill'))).toEqual([])
  })
})

test('npm start without Java says how to get it, in one line, and ends with 1', async () => {
  const ended = await run('local/main.ts', [], emptyFolder(), { PATH: '/nonexistent' }).ended
  expect(ended.code).toBe(1)
  expect(ended.stderr.trim().split('\n')).toHaveLength(1)
  expect(ended.stderr).toMatch(/Java was not found.*Install Java 17/)
})

test('npm start on a port in use says so and how to choose another, and leaves no child', async () => {
  const taken = createServer()
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
  const { port } = taken.address() as { port: number }
  const started = run('local/main.ts', [], emptyFolder(), { PORT: String(port) })
  const { code, stderr } = await started.ended
  taken.close()
  expect(code).toBe(1)
  expect(stderr.trim()).toBe(
    `Port ${port} is already in use. End what uses it, or choose another: PORT=${port + 1} npm start`,
  )
  expect(childrenOf(started.child.pid)).toEqual([])
})

test.each([
  ['that is missing', undefined, /cannot be read \(ENOENT\)/],
  ['that is not JSON', '{', /is not JSON/],
  ['with a fault', '{"providers":{},"models":[{"id":"m"}]}', /is not valid: models\[0\]\.contextLength/],
])('npm start with a catalog %s gives the reason in one line and ends with 1', async (_, content, reason) => {
  const folder = emptyFolder()
  const file = join(folder, 'catalog.json')
  if (content !== undefined) writeFileSync(file, content)
  const { code, stderr } = await run('local/main.ts', [], folder, { WAYBILL_CATALOG: file }).ended
  expect(code).toBe(1)
  expect(stderr.trim().split('\n')).toHaveLength(1)
  expect(stderr).toMatch(reason)
})

test('npm start that is ended while it is still starting leaves no child', async () => {
  const started = run('local/main.ts', [], emptyFolder())
  let children: string[] = []
  while (children.length === 0) {
    await new Promise((resolve) => setTimeout(resolve, 20))
    children = childrenOf(started.child.pid)
  }
  started.child.kill('SIGTERM')
  const { code, stderr } = await started.ended
  expect([code, stderr]).toEqual([0, ''])
  expect(children.map(Number).filter(isAlive)).toEqual([])
})
