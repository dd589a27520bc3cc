import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { commandsOf, ROOT } from '../documents/support/markdown.ts'
import { waybill } from '../support/command-line.ts'
import { emptyFolder, startLocal } from '../support/processes.ts'
import { hasCurl } from '../support/programs.ts'
import { inShell } from './support/in-shell.ts'

const folder = emptyFolder()
const PRICES = {
  'claude-sonnet-4-5': {
    litellm_provider: 'anthropic',
    input_cost_per_token: 3e-6,
    output_cost_per_token: 1.5e-5,
    max_input_tokens: 200_000,
    max_output_tokens: 64_000,
  },
}
/** LiteLLM, as far as the guide asks it. */
const litellm = createServer((request, response) => {
  const isAsked =
    request.headers.authorization === 'Bearer sk-1234' && request.url?.startsWith('/key/list?return_full_object=true')
  response.end(isAsked ? readFileSync(join(ROOT, 'examples/litellm/keys.json')) : '{}')
})
beforeAll(async () => {
  await new Promise<void>((resolve) => litellm.listen(0, '127.0.0.1', resolve))
  cpSync(join(ROOT, 'examples/litellm/config.yaml'), join(folder, 'config.yaml'))
  writeFileSync(join(folder, 'model_prices_and_context_window.json'), JSON.stringify(PRICES))
  await startLocal(folder)
})
afterAll(() => void litellm.close())

/** `npm run` works in the folder of the project, so its program is run in ours. */
const HERE = `npm() { shift 4; WAYBILL_DATA='${join(folder, '.waybill')}' '${join(ROOT, 'node_modules/.bin/node')}' '${join(ROOT, 'waybill.js')}' "$@"; }\n`

test('every command of the guide runs, and its keys and models are there', async () => {
  const { port } = litellm.address() as AddressInfo
  const env = { LITELLM_MASTER_KEY: 'sk-1234', LITELLM_URL: `http://127.0.0.1:${port}` }
  if (!hasCurl()) cpSync(join(ROOT, 'examples/litellm/keys.json'), join(folder, 'keys.json'))
  const commands = commandsOf('docs/guide-litellm.md').filter((command) => hasCurl() || !command.startsWith('curl'))
  expect(commands.length).toBeGreaterThanOrEqual(5)
  for (const command of commands) {
    const here = command.replace(/^sh /, '. ./').replace(' --local', '')
    const told = await inShell(`${HERE}${command.startsWith('sh ') ? `set -- --local; ${here}` : command}`, folder, env)
      .ended
    expect({ command, ...told }).toMatchObject({ code: 0 })
  }
  const { stdout } = await waybill(folder, ['keys', 'list', '--json', '--local'])
  const [key] = JSON.parse(stdout).data
  expect(key).toMatchObject({ name: 'search team', available: '87.5', monthly_credits: '100', rpm: 300 })
  const catalog = JSON.parse((await waybill(folder, ['catalog', 'show', '--json', '--local'])).stdout)
  expect(JSON.stringify(catalog)).toContain('"house-model"')
  const proposal = readFileSync(join(folder, 'imported', 'catalog.proposal.json'), 'utf8')
  expect(JSON.parse(proposal).models[1]).toMatchObject({
    id: 'claude-sonnet',
    active: false,
    contextLength: 200_000,
    price: { input: '3', output: '15' },
  })
})
