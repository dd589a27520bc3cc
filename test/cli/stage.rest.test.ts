import { expect, test } from '@jest/globals'
import type { KeyShape } from '../../layers/admin/api/shapes/keys.ts'
import { readKey } from '../../layers/gateway/store/keys/read-key.ts'
import { stageOfFile } from './support/commands.ts'

const { opened, run, json, list, refused } = await stageOfFile()
/** In a process of its own. */
const apart = (args: readonly string[], env?: Record<string, string>) =>
  opened.stage.start('cli/waybill.ts', args, env).ended

test('waybill --stage finds the admin API by the stack’s outputs, with the operator’s own credentials only', async () => {
  const { gateway, stage } = opened
  stage.asked.length = 0
  const create = ['--stage', 'dev', 'keys', 'create', '--name', 'acme', '--credits', '1', '--json']
  const { code, stdout, stderr } = await apart(create)
  expect([code, stderr]).toEqual([0, ''])
  expect(stage.asked).toEqual(['Waybill-dev'])
  const made = JSON.parse(stdout) as { id: string; secret: string }
  expect((await readKey(gateway.tables)(made.id))?.name).toBe('acme')
  expect((await gateway.get(made.secret, '/v1/models')).status).toBe(200)
  expect(await json('audit', '--key', made.id)).toMatchObject({ data: [{ key_id: made.id, rows: 1, ok: true }] })
})

test.each([
  ['warns of a list with IPv4 ranges only', 'true', '203.0.113.0/24,198.51.100.0/24', true],
  ['accepts a list with IPv4 ranges only in silence, where the stack has no IPv6', 'false', '203.0.113.0/24', false],
  ['accepts a list with both kinds of ranges in silence', 'true', '203.0.113.0/24,2001:db8::/32', false],
  ['accepts a list with IPv6 ranges only in silence', 'true', '2001:db8::/32', false],
  ['accepts an empty list in silence', 'true', '', false],
])('waybill keys create and update %s', async (_, Ipv6, allow, warns) => {
  opened.stage.outputs = { ...opened.stage.outputs, Ipv6 }
  const options = ['--allow', allow, '--json']
  const created = await run('keys', 'create', '--name', `list ${allow} ${Ipv6}`, ...options)
  const { id, allowlist } = JSON.parse(created.stdout) as { id: string; allowlist: string[] }
  expect(allowlist.join()).toBe(allow)
  const updated = await run('keys', 'update', id, ...options)
  expect(JSON.parse(updated.stdout)).toMatchObject({ id, allowlist })
  for (const { code, stderr } of [created, updated]) {
    expect(code).toBe(0)
    expect(stderr).toEqual(warns ? expect.stringMatching(/^warning: .*IPv4 ranges only.*IPv6/) : '')
  }
  const renamed = await run('keys', 'update', id, '--name', `other ${allow} ${Ipv6}`)
  expect([renamed.code, renamed.stderr]).toEqual([0, ''])
})

test('waybill smoke passes on a gateway that works, at one address or at two, and leaves its key revoked', async () => {
  const whole = await apart(['smoke', '--stage', 'dev'])
  expect([whole.code, whole.stderr]).toEqual([0, ''])
  expect(whole.stdout.match(/^ok /gm)).toHaveLength(16)
  expect(whole.stdout.match(/^n\/a .*/gm)).toEqual([
    expect.stringContaining('piece by piece'),
    expect.stringContaining('plain HTTP'),
    expect.stringContaining('IPv6'),
    // The database of the test has no backups.
    expect.stringContaining('the tables expire'),
  ])
  const { BaseUrl = '', ...tables } = opened.stage.outputs
  opened.stage.outputs = { ...tables, ChatUrl: `${BaseUrl}/v1`, ApiUrl: `${BaseUrl}/v1` }
  const split = await apart(['smoke', '--stage', 'dev'])
  expect(split.code).toBe(0)
  const smoke = (await list<KeyShape>('keys', 'list')).filter(({ name }) => name === 'smoke')
  expect(smoke.map(({ status }) => status)).toEqual(['revoked', 'revoked'])
})

test('waybill smoke fails on a gateway that does not work, and says where', async () => {
  const broken = await apart(['smoke', '--stage', 'dev', '--model', 'nope'])
  expect(broken.code).toBe(1)
  expect(broken.stdout).toMatch(/FAILED {2}a completion is answered.*model_not_found/)
})

const NO_KEYS = {
  AWS_PROFILE: '',
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: '',
  AWS_SECRET_ACCESS_KEY: '',
  AWS_EC2_METADATA_DISABLED: 'true',
  AWS_CONFIG_FILE: '/dev/null',
  AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
}

test.each(['keys list', 'smoke'])(
  'waybill %s --stage says in one line what stands between it and AWS',
  async (command) => {
    const dead = { AWS_ENDPOINT_URL_CLOUDFORMATION: 'http://127.0.0.1:1', AWS_MAX_ATTEMPTS: '1' }
    const cases: [stage: string, env: Record<string, string>, says: RegExp][] = [
      ['dev', dead, /^AWS cannot be reached \(ECONNREFUSED 127\.0\.0\.1:1\)\. Look at the network.*\n$/],
      ['dev', { AWS_REGION: '', AWS_CONFIG_FILE: '/dev/null' }, /^No AWS region is set.*\n$/],
      ['dev', NO_KEYS, /^No AWS credentials.*\n$/],
      ['nope', {}, /^There is no stack Waybill-nope in us-east-1 for your credentials\. Look at .*npm run deploy.*\n$/],
    ]
    for (const [name, env, says] of cases) {
      const ended = await apart([...command.split(' '), '--stage', name], env)
      expect(ended).toEqual({ code: 1, stdout: '', stderr: expect.stringMatching(says) })
    }
  },
)

test('waybill --stage says that a stack without outputs is not deployed to its end', async () => {
  const { AdminUrl: _, ...others } = opened.stage.outputs
  opened.stage.outputs = others
  expect(await refused('keys', 'list')).toMatch(/^The stack Waybill-dev is CREATE_COMPLETE and has no output/)
})
