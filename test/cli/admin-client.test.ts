import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import type { AdminClient } from '../../cli/admin-client/http-client.ts'
import { localFile, localFolder } from '../../cli/connect/local-gateway.ts'
import { ADMIN_ROOT } from '../../layers/gateway/endpoints.ts'
import { readStoredCatalog } from '../../layers/gateway/store/catalog/read-catalog.ts'
import { writeCatalog } from '../../layers/gateway/store/catalog/write-catalog.ts'
import { listKeys } from '../../layers/gateway/store/keys/read-key.ts'
import { revokeKey } from '../../layers/gateway/store/keys/rotate-key.ts'
import { ARN, adminFunction } from '../functions/support/admin-function.ts'
import { actAt } from '../support/act.ts'
import { waybill } from '../support/command-line.ts'
import { catalogFor, HELLO } from '../support/gateway.ts'
import { type Ended, emptyFolder } from '../support/processes.ts'
import { openBoth } from '../support/stack.ts'
import { commandsOn } from './support/commands.ts'

const UP = 'https://up.example/v1'

/** A gateway whose tables nobody on this machine can reach. */
const folder = emptyFolder()
const { gateway } = await openBoth()
const deployed = adminFunction(gateway.tables)
const nowhere = 'http://127.0.0.1:1'
const file = { baseUrl: nowhere, dynamodbEndpoint: nowhere, echoUrl: nowhere, demoKey: '', adminToken: '', pid: 1 }
mkdirSync(localFolder(folder))
writeFileSync(localFile(localFolder(folder)), JSON.stringify(file))

/** The admin API as a stage has it, with the limits of a function. */
const client: AdminClient = async ({ method, path, query, headers, body }) => {
  const route = `${method} ${path.slice(ADMIN_ROOT.length)}?${query}`
  const sent = { headers: headers as Record<string, string>, body: Buffer.from(body).toString() }
  const { status, headers: told, text } = await deployed.signed(route, sent)
  return { status, headers: told, body: text }
}

const failed = (status: number, code: string, message: string) => {
  return { status, headers: {}, body: JSON.stringify({ error: { message, code } }) }
}

const run = (args: readonly string[], by: AdminClient = client): Promise<Ended> =>
  waybill(folder, [...args, '--local'], {}, () => by)

const json = <T>(args: readonly string[], by: AdminClient) => commandsOn((all) => run(all, by)).json<T>(...args)

const statusOf = async (secret: string) => (await gateway.get(secret, '/v1/models')).status

describe('what commands send and read', () => {
  test('an audit that broke off is told as that, and never as clean', async () => {
    const { key } = await gateway.issue()
    const cut: AdminClient = async (asked) => {
      const answer = await client(asked)
      return asked.method === 'POST' ? { ...answer, body: `${String(answer.body).split('\n')[0]}\n` } : answer
    }
    const { code, stdout, stderr } = await run(['audit', '--key', key.id], cut)
    expect([code, stdout, stderr]).toEqual([1, '', expect.stringContaining('The audit broke off')])
  })

  test('a new secret never leaves the machine: only its hash and its end are sent', async () => {
    const sent: string[] = []
    const noting: AdminClient = (asked) => {
      sent.push(`${asked.path} ${JSON.stringify(asked.headers)} ${Buffer.from(asked.body)}`)
      return client(asked)
    }
    const { id, ...made } = await json<{ id: string; secret: string }>(['keys', 'create', '--name', 'x'], noting)
    const { secret } = await json<{ secret: string }>(['keys', 'rotate', id], noting)
    expect(sent.join('\n')).toContain('"secret_sha256"')
    for (const one of [made.secret, secret]) expect(sent.join('\n')).not.toContain(one.slice(9, 40))
  })

  test('waybill keys list has every key of a long list, and asks for a hundred at a time', async () => {
    const { key } = await gateway.issue()
    const listed = (await deployed.signed('GET /keys')).body.data.find(({ id }: { id: string }) => id === key.id)
    const limits: (string | null)[] = []
    const many: AdminClient = async ({ query }) => {
      limits.push(query.get('limit'))
      const from = Number(query.get('after') ?? 0)
      const data = Array.from({ length: Math.min(100, 230 - from) }, (_, i) => ({ ...listed, id: `key_${from + i}` }))
      const body = { object: 'list', data, has_more: from + data.length < 230, last_id: String(from + data.length) }
      return { status: 200, headers: {}, body: JSON.stringify(body) }
    }
    const { data } = await json<{ data: { id: string }[] }>(['keys', 'list'], many)
    expect(data.map(({ id }) => id)).toEqual(Array.from({ length: 230 }, (_, i) => `key_${i}`))
    expect(limits).toEqual(['100', '100', '100'])
  })
})

describe('what is too much for one answer of a stage', () => {
  /** A stage that answers with the rows of half an hour at most, and counts what it is asked. */
  const small = (code: string) => {
    const state = { asked: 0 }
    const stage: AdminClient = async (asked) => {
      const ms = (name: string) => Date.parse(asked.query.get(name) ?? '')
      state.asked += 1
      if (ms('to') - ms('from') <= 30 * 60_000) return client(asked)
      return failed(400, code, 'too much')
    }
    return { state, stage }
  }

  test.each(['answer_too_large', 'took_too_long'])(
    'waybill usage export asks for halves of its range after %s, and has every row once, with one heading',
    async (code) => {
      const { key, secret } = await gateway.issue()
      for (let i = 0; i < 3; i++) await (await gateway.post(secret, HELLO)).text()
      const now = Date.now()
      const [from, to] = [now - 3 * 3_600_000, now + 60_000].map((ms) => new Date(ms).toISOString())
      const args = ['usage', 'export', '--key', key.id, '--from', `${from}`, '--to', `${to}`]
      for (const format of ['csv', 'jsonl']) {
        const whole = await run([...args, '--format', format])
        const { state, stage } = small(code)
        const halved = await run([...args, '--format', format], stage)
        expect(halved).toEqual(whole)
        expect(whole.stdout.match(/\n/g)).toHaveLength(format === 'csv' ? 4 : 3)
        expect(state.asked).toBeGreaterThan(8)
      }
    },
  )
})

describe('answers that are lost', () => {
  /** Does what is asked, and loses the answers to changes. */
  const losing = (loss: 'throws' | 'says 503'): AdminClient => {
    return async (asked) => {
      const answer = await client(asked)
      if (asked.method === 'GET') return answer
      if (loss === 'throws') throw new TypeError('fetch failed')
      return failed(503, 'outcome_unknown', 'The stage did not answer (ECONNRESET).')
    }
  }
  const keysNamed = async (name: string) =>
    (await Array.fromAsync(listKeys(gateway.tables)())).filter((key) => key.name === name)

  const versionOf = async (id: string) => (await gateway.readKey(id)).version

  test.each([
    [
      'create',
      (id: string) => ['--name', `unsure of ${id}`],
      'keys list',
      'create one',
      async (id: string) => (await keysNamed(`unsure of ${id}`)).length,
    ],
    ['rotate', (id: string) => [id], 'keys show .*', 'rotate', async (id: string) => (await versionOf(id)) - 1],
  ])(
    'a %s whose answer is lost every time is made once, shows its secret, and calls the outcome unknown',
    async (verb, argsFor, look, otherwise, timesDone) => {
      const { id } = (await gateway.issue()).key
      const { code, stdout, stderr } = await run(['keys', verb, ...argsFor(id), '--json'], losing('throws'))
      const { secret, ...told } = JSON.parse(stdout)
      const known = { ...(verb === 'rotate' && { id }), last_four: secret.slice(-4), saved: 'unknown' }
      expect([code, stderr, told]).toEqual([1, '', known])
      expect([await statusOf(secret), await timesDone(id)]).toEqual([200, 1])
      const other = (await gateway.issue()).key.id
      const people = await run(['keys', verb, ...argsFor(other)], losing('throws'))
      const [shown = ''] = /svc_live_[0-9A-Za-z]{43}/.exec(people.stdout) ?? []
      expect([people.code, people.stderr, await statusOf(shown)]).toEqual([1, '', 200])
      const words = `It is not known whether this was saved \\(.+\\): try it, or look with 'waybill ${look}' whether the key ends in …${shown.slice(-4)}; if not, ${otherwise} again\\.`
      expect(people.stdout).toMatch(new RegExp(words))
    },
  )

  test('a grant whose answer is lost every time is told as unknown, and was made once', async () => {
    const { key } = await gateway.issue()
    const ended = await run(['keys', 'grant', key.id, '2'], losing('says 503'))
    const words =
      'It is not known whether the change was made (The stage did not answer (ECONNRESET)): look before you try again.\n'
    expect(ended).toEqual({ code: 1, stdout: '', stderr: words })
    const { granted } = await gateway.readKey(key.id)
    expect(granted - key.granted).toBe(2n * 10n ** 9n)
  })
})

describe('refusals are told in words', () => {
  const refused = (args: readonly string[], by = client) => commandsOn((all) => run(all, by)).refused(...args)

  test('a change of a key that somebody else has changed meanwhile is refused, with who and what', async () => {
    const { key } = await gateway.issue()
    const outpaced: AdminClient = async (asked) => {
      if (asked.method === 'PATCH') {
        const headers = { 'content-type': 'application/json', 'if-match': `"${key.version}"` }
        await deployed.signed(`PATCH /keys/${key.id}`, { body: { rpm: 99 }, headers })
      }
      return client(asked)
    }
    const told = await refused(['keys', 'update', key.id, '--rpm', '5'], outpaced)
    expect(told).toContain(`${ARN} changed it at`)
    expect(told).toContain('requests a minute 60 → 99')
    expect((await gateway.readKey(key.id)).rpm).toBe(99)
  })

  test('a push of a catalog does not replace one that somebody else pushed meanwhile', async () => {
    const seen = (await readStoredCatalog(gateway.tables)())?.version ?? 0
    const outpaced: AdminClient = async (asked) => {
      if (asked.method === 'PUT') await writeCatalog(gateway.tables)(catalogFor(UP, { id: 'theirs' }), actAt())
      return client(asked)
    }
    const file = join(folder, 'ours.json')
    writeFileSync(file, JSON.stringify(catalogFor(UP, { id: 'ours' })))
    const { code, stdout, stderr } = await run(['catalog', 'push', file, '--json'], outpaced)
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(
      new RegExp(
        `test pushed version ${seen + 1} of the catalog while you looked at ${seen}, .*It changed:\n {2}- model test-model\n {2}\\+ model theirs\n.*waybill catalog show.*push again`,
        's',
      ),
    )
    expect(await readStoredCatalog(gateway.tables)()).toMatchObject({
      version: seen + 1,
      data: { models: [{ id: 'theirs' }] },
    })
  })

  test('a rotation that is known not to be made shows no secret', async () => {
    const { id } = (await gateway.issue()).key
    const away: AdminClient = async (asked) =>
      asked.method === 'GET' ? client(asked) : failed(503, 'service_unavailable', 'The database did not answer.')
    expect(await refused(['keys', 'rotate', id, '--json'], away)).toBe('The database did not answer.\n')
    await revokeKey(gateway.tables)(id, actAt())
    expect(await refused(['keys', 'rotate', id, '--json'])).toContain('is revoked')
    expect(await refused(['keys', 'rotate', 'key_nope', '--json'])).toContain('There is no key')
  })

  test('words that are for programs are left out at a terminal', async () => {
    const message =
      'This took long. A change may have been made. Look, or ask again with the same Idempotency-Key. Ask for less.'
    const told = await refused(['usage', 'summary'], async () => failed(503, 'took_too_long', message))
    expect(told).toBe('This took long. A change may have been made. Ask for less.\n')
  })
})
