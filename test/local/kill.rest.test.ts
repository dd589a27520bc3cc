import { expect, jest, test } from '@jest/globals'
import { Random } from '../simulation/random.ts'
import { emptyFolder, type Local, run, startLocal } from '../support/processes.ts'

// More of them: LOCAL_KILLS=50 npm run -s jest -- test/local/kill
const KILLS = Number(process.env.LOCAL_KILLS ?? 1)
const CLIENTS = 12

jest.setTimeout(60_000 + KILLS * 30_000)

type Answered = { readonly requestId: string; readonly cost: string }

/** Asks again and again until the gateway is gone. Tells of the answers that came whole. */
async function askOn({ baseUrl }: Local, secret: string, answered: Answered[]): Promise<void> {
  for (let i = 0; ; i++) {
    const body = { model: 'echo', messages: [{ role: 'user', content: `word ${i}` }] }
    try {
      const response = await fetch(`${baseUrl}/v1/chat/completions`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${secret}`, 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      })
      await response.text()
      if (response.status !== 200) continue
      const { headers } = response
      answered.push({ requestId: headers.get('x-request-id') ?? '', cost: headers.get('x-svc-cost') ?? '' })
    } catch {
      return
    }
  }
}

test('killed under load, npm start has every row that it answered for, and its books balance', async () => {
  const folder = emptyFolder()
  const random = new Random(KILLS)
  const answered: Answered[] = []
  for (let kill = 1; kill <= KILLS; kill++) {
    const started = await startLocal(folder)
    // One for each kill: requests that died hold their places for a while.
    const secret = await newKey(folder)
    const before = answered.length
    const asking = Array.from({ length: CLIENTS }, () => askOn(started.local, secret, answered))
    while (answered.length < before + 5) await new Promise((resolve) => setTimeout(resolve, 10))
    await new Promise((resolve) => setTimeout(resolve, random.below(400)))
    started.child.kill('SIGKILL')
    await Promise.all([started.ended, ...asking])
    await checkBooks(folder, secret, answered.slice(before))
  }
  expect(answered.length).toBeGreaterThanOrEqual(KILLS * 5)
})

async function newKey(folder: string): Promise<string> {
  const options = ['--name', 'load', '--credits', '10', '--rpm', '6000', '--local', '--json']
  const { stdout } = await run('cli/waybill.ts', ['keys', 'create', ...options], folder).ended
  return (JSON.parse(stdout) as { secret: string }).secret
}

/** Another start reads it, and is ended by hand. */
async function checkBooks(folder: string, secret: string, answered: readonly Answered[]): Promise<void> {
  const again = await startLocal(folder)
  const audit = await run('cli/waybill.ts', ['audit', '--local'], folder).ended
  expect([audit.code, audit.stdout]).toEqual([0, expect.stringContaining('all clean')])
  for (const { requestId, cost } of answered) {
    const headers = { Authorization: `Bearer ${secret}` }
    const row = await (await fetch(`${again.local.baseUrl}/v1/usage/${requestId}`, { headers })).json()
    expect(row).toMatchObject({ request_id: requestId, outcome: 'completed' })
    expect(Number((row as { cost: unknown }).cost)).toBe(Number(cost))
  }
  again.child.kill('SIGTERM')
  await again.ended
}
