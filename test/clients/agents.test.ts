import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from '@jest/globals'
import { requireCatalog } from '../../layers/catalog/parse-catalog.ts'
import { closedBooks } from '../robust/support/exchange.ts'
import { emptyFolder } from '../support/processes.ts'
import { openFor, openServer } from '../support/stack.ts'
import { AGENTS, type Agent, type Step } from './support/agents.ts'
import { newestOf, openClient, type Run } from './support/client.ts'
import { SEAL } from './support/strict.ts'
import { openTap } from './support/tap.ts'
import { type Model, type Tool, type Turn, UPSTREAMS } from './support/upstreams.ts'

/** The turns of a conversation: a person's prompt, the tools that the model calls for it, and its last text. */
const TURNS: readonly { prompt: string; steps: readonly Step[]; text: string; isCut?: true }[] = [
  { prompt: 'Write the note.', steps: ['write', 'edit'], text: 'It is written.' },
  { prompt: 'Ring, and read the note.', steps: ['search', 'ring', 'read'], text: 'The note says', isCut: true },
  { prompt: 'Go on.', steps: [], text: 'bye, and no more.' },
]

/** Agents also ask for titles, without tools. Some continue by themselves what was cut. */
function modelOf({ tools }: Agent): Model {
  const callOf = (step: Step, offered: readonly Tool[]): Turn => {
    for (const [name, input] of Object.entries(tools[step] ?? {})) {
      const tool = offered.find((tool) => tool.name === name || tool.name.endsWith(`__${name}`))
      if (tool) return { id: `call_${step}`, tool, input }
    }
    return { text: `No tool to ${step} is offered.` }
  }
  return (request, offered) => {
    if (offered.length === 0) return { text: 'Note' }
    const isContinued = request.includes(TURNS[1]?.text ?? '')
    const turn = isContinued ? TURNS.at(-1) : TURNS.findLast(({ prompt }) => request.includes(prompt))
    const step = turn?.steps.find((step) => tools[step] && request.split(`"call_${step}"`).length < 3)
    return step ? callOf(step, offered) : { text: turn?.text ?? '', isCut: turn?.isCut === true }
  }
}

function catalogOf(baseUrl: string, provider: object, models: readonly string[]) {
  return requireCatalog({
    providers: { up: { ...('region' in provider ? {} : { baseUrl }), ...provider } },
    models: models.map((id) => ({
      id,
      contextLength: 400_000,
      maxOutputTokens: 128_000,
      price: { input: '1', output: '2', cachedInput: '0.5' },
      routes: [{ provider: 'up', model: 'anthropic.claude-3-haiku-20240307-v1:0' }],
    })),
  })
}

/** The model that the agent asks for by this name. */
async function modelSent(agent: Agent, run: Run, model: string): Promise<string> {
  if (!agent.hasAliases) return model
  let sent = ''
  const url = await openServer(async (request, response) => {
    sent ||= /"model":"([^"]+)"/.exec(await text(request))?.[1] ?? ''
    response.writeHead(400).end('{}')
  })
  const folder = emptyFolder()
  const env = agent.configure({ baseUrl: url, secret: 'none', folder, model })
  await run(agent.first('Hello', model), { cwd: folder, env: { PATH: process.env.PATH, HOME: folder, ...env } })
  return sent
}

for (const [name, agent] of Object.entries(AGENTS)) {
  for (const version of new Set([agent.pinned, (await newestOf(agent.package)) ?? 'newest'])) {
    const run = version === 'newest' ? undefined : await openClient(agent.package, version, agent.command)
    const models = run ? await Promise.all(agent.models.map((model) => modelSent(agent, run, model))) : []
    const each = run ? test.each(agent.models) : test.skip.each(agent.models)
    describe(`${name} ${version}`, () => {
      for (const [kind, { provider, open }] of Object.entries(UPSTREAMS)) {
        each(`%s works over an upstream of ${kind}`, async (model) => {
          const asked: string[] = []
          const decide = modelOf(agent)
          const url = await open((request, offered) => {
            asked.push(request)
            return decide(request, offered)
          })
          const gateway = await openFor(catalogOf(url, provider, models))
          const { key, secret } = await gateway.issue({ credits: '1000' })
          const { baseUrl, refused } = await openTap(gateway.baseUrl)
          const folder = emptyFolder()
          const settings = agent.configure({ baseUrl, secret, folder, model })
          const place = { cwd: folder, env: { PATH: process.env.PATH, HOME: folder, ...settings } }
          const outputs: string[] = []
          for (const { prompt } of TURNS) {
            const ended = await run?.(agent[outputs.length > 0 ? 'next' : 'first'](prompt, model), place)
            outputs.push(`${ended?.stdout}${ended?.stderr}`.replace(agent.complaint ?? '', ''))
          }
          expect(refused).toEqual([])
          const rows = await closedBooks(gateway, key.id)
          expect(rows.filter(({ outcome, httpStatus }) => outcome !== 'completed' || httpStatus !== 200)).toEqual([])
          expect(readFileSync(join(folder, 'out.txt'), 'utf8')).toBe('bye\n')
          expect(outputs[0]).toContain(TURNS[0]?.text)
          expect(outputs[2]).toContain(TURNS[2]?.text)
          expect(outputs.join('')).not.toMatch(/\berror\b/i)
          if (kind === agent.speaks) expect(asked.at(-1)).toMatch(`"${SEAL}"`)
        })
      }
    })
  }
}
