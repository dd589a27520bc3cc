import { expect, test } from '@jest/globals'
import { LIMITS } from '../../layers/gateway/providers/limit-request.ts'
import { someOf } from '../support/some-of.ts'
import { CAP, type ChatContract, CONTRACT_BODIES, DIALECTS, numbersIn, openDialects } from './support/every-dialect.ts'

const CONTRACTS = Object.keys(CONTRACT_BODIES) as ChatContract[]
const TOO_MUCH = 10 * CAP
const TOO_HARD = 'ultra'

const refusing = await openDialects()
const dropping = await openDialects({ provider: { unknownFields: 'drop' } })

/** The field at this place of a request, with what makes it valid beside it. */
function fieldAt(place: string, value: unknown): Record<string, unknown> {
  const [outer = '', inner] = place.split('.')
  if (inner === undefined) return { [outer]: value }
  return { [outer]: { ...(outer === 'thinking' && { type: 'enabled' }), [inner]: value } }
}

const PLACES = LIMITS.flatMap(({ at, words }) => at.map((place) => [place, words ? TOO_HARD : TOO_MUCH] as const))

test.each(PLACES)('no dialect sends %s above its limit, whichever contract asks for it', async (place, value) => {
  for (const { ask } of someOf([refusing, dropping], 2)) {
    for (const dialect of DIALECTS) {
      for (const contract of CONTRACTS) {
        const { status, answer, sent } = await ask(contract, dialect, fieldAt(place, value))
        const about = { contract, dialect, answer: answer.slice(0, 300) }
        expect({ ...about, isFine: sent ? status === 200 : status === 400 }).toEqual({ ...about, isFine: true })
        const above = numbersIn(sent).filter((number) => number > CAP)
        expect({ ...about, above, isHard: JSON.stringify(sent ?? '').includes(TOO_HARD) }).toEqual({
          ...about,
          above: [],
          isHard: false,
        })
      }
    }
  }
})

test.each([
  ['chat', 'chat', 'thinking.budget_tokens', 'thinking.budget_tokens', CAP - 1],
  ['chat', 'anthropic', 'thinking.budget_tokens', 'thinking.budget_tokens', CAP - 1],
  ['messages', 'anthropic', 'thinking.budget_tokens', 'thinking.budget_tokens', CAP - 1],
  ['messages', 'bedrock', 'thinking.budget_tokens', 'additionalModelRequestFields.thinking.budget_tokens', CAP - 1],
  ['chat', 'openai', 'reasoning.max_tokens', 'reasoning.max_tokens', CAP - 1],
  ['messages', 'chat', 'thinking_budget', 'thinking_budget', CAP],
  ['responses', 'chat', 'thinking_budget', 'thinking_budget', CAP],
  ['completions', 'chat', 'min_tokens', 'min_tokens', CAP],
  ['completions', 'openai', 'min_tokens', 'min_tokens', CAP],
] as const)('%s to %s: %s goes out within the cap', async (contract, dialect, place, sentAt, most) => {
  const { sent } = await refusing.ask(contract, dialect, fieldAt(place, TOO_MUCH))
  expect(sent).toHaveProperty(sentAt, most)
  const within = await refusing.ask(contract, dialect, fieldAt(place, CAP - 10))
  expect(within.sent).toHaveProperty(sentAt, CAP - 10)
})

test('an operator can allow a budget or an effort above the limit, and never a cap', async () => {
  const allowFields = ['thinking', 'reasoning_effort', 'max_output_tokens', 'max_completion_tokens', 'best_of', 'tools']
  const { ask } = await openDialects({ model: { allowFields } })
  const asked = { thinking: { type: 'deep', budget_tokens: TOO_MUCH }, reasoning_effort: TOO_HARD }
  expect((await ask('chat', 'chat', asked)).sent).toMatchObject(asked)
  for (const dialect of DIALECTS) {
    for (const contract of CONTRACTS) {
      for (const name of ['max_output_tokens', 'max_completion_tokens', 'max_tokens', 'best_of', 'n']) {
        const { sent } = await ask(contract, dialect, { [name]: TOO_MUCH })
        expect([contract, dialect, name, numbersIn(sent).filter((number) => number > CAP)]).toEqual([
          ...[contract, dialect, name],
          [],
        ])
      }
    }
  }
})

test('an effort that Claude does not know is a 400 that names those it knows', async () => {
  for (const dialect of ['anthropic', 'bedrock'] as const) {
    const { status, answer } = await refusing.ask('messages', dialect, fieldAt('output_config.effort', 'none'))
    expect([status, answer]).toEqual([
      400,
      expect.stringContaining("'output_config.effort' must be one of low, medium,"),
    ])
  }
})
