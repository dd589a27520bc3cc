import { createServer } from 'node:http'
import { expect, test } from '@jest/globals'
import { commandsOf, ROOT } from '../documents/support/markdown.ts'
import { listen } from '../support/listen.ts'
import { emptyFolder } from '../support/processes.ts'
import { until } from '../support/wait.ts'
import { inShell } from './support/in-shell.ts'

const GUIDE = commandsOf('docs/guide-stripe.md')

async function freePort(): Promise<string> {
  await using server = await listen(createServer())
  return new URL(server.url).port
}

test('every command of the guide runs: a gateway, its admin API, the shop, a purchase, a key, a top-up, a notice', async () => {
  const ports = { '4242': await freePort(), '8787': await freePort() }
  const env = {
    WAYBILL_DATA: emptyFolder(),
    XDG_CONFIG_HOME: '/nonexistent',
    WAYBILL_WEBHOOK_SECRET: '',
    SHOP: `http://127.0.0.1:${ports['4242']}`,
  }
  const left = [...GUIDE]
  const taken: string[] = []
  /** The next command of the guide, with the exports before it. */
  const next = (places: Readonly<Record<string, string>> = {}) => {
    const exports: string[] = []
    while (left[0]?.startsWith('export ')) exports.push(left.shift() ?? '')
    taken.push(...exports)
    const command = [...taken, left.shift() ?? ''].join('\n')
    return Object.entries({ ...ports, ...places }).reduce((text, [from, to]) => text.replaceAll(from, to), command)
  }
  const serve = async (command: string, sign: RegExp, port = '0') => {
    const shell = inShell(command, ROOT, { ...env, PORT: port })
    return { shell, said: await until(() => sign.exec(shell.output())?.[0], 60_000) }
  }
  const run = async (command: string): Promise<string> => {
    const { code, stdout, stderr } = await inShell(command, ROOT, env).ended
    expect({ command, code, stderr }).toMatchObject({ code: 0, stderr: '' })
    return stdout
  }

  // Each terminal of the guide has the same one.
  const random = /\$\((openssl .*?)\)/.exec(GUIDE[0] ?? '')
  const secret = { [random?.[0] ?? '']: (await run(random?.[1] ?? '')).trim() }
  const start = next(secret)
  const { shell: gateway, said: address } = await serve(start, /http:\S+\/v1(?=.*Ctrl-C)/s, ports['8787'])
  const [adminKey = ''] = /svc_admin_\w{43}/.exec(await run(next())) ?? []
  const open = next({ ...secret, 'svc_admin_…': adminKey })
  const { shell: shop } = await serve(open, /The shop is open/, ports['4242'])
  const paid = await run(next())
  expect(paid).toContain('200 Granted.')
  const page = new URL(/http\S+/.exec(paid)?.[0] ?? '')
  const shown = await (await fetch(page.origin + page.pathname, { method: 'POST', body: page.searchParams })).text()
  expect(shown).toMatch(/svc_live_\w{43}/)
  const list = `${taken.join('\n')}\nnpm run -s waybill -- keys list --local --json`
  const ofAnn = async () =>
    JSON.parse(await run(list)).data.find(({ name }: { name: string }) => name === 'ann@example.com')
  const { id, available } = await ofAnn()
  expect(available).toBe('25')
  expect(await run(next({ KEY: id }))).toContain('200 Granted.')
  expect((await ofAnn()).available).toBe('35')
  expect(await run(next())).toContain('ann@example.com')
  expect(left).toEqual([])

  // Nearly all is spent: the sweep, which also runs when a gateway starts, tells the shop.
  const chat = await fetch(`${address}/chat/completions`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${/svc_live_\w{43}/.exec(shown)?.[0]}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ model: 'echo', messages: [{ role: 'user', content: 'Hello' }] }),
  })
  expect(chat.status).toBe(200)
  await run(`${taken.join('\n')}\nnpm run -s waybill -- keys grant ${id} -34.5 --local`)
  gateway.end()
  await gateway.ended
  await serve(start, /Ctrl-C/, ports['8787'])
  const mail = await until(() => /mail to .*/.exec(shop.output())?.[0], 30_000)
  expect(mail).toMatch(
    /^mail to ann@example\.com: You have 0\.\d+ credits left\. Top up your key: .*client_reference_id=key_/,
  )
  expect(mail).toContain(id)
})
