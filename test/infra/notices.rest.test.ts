import { expect, test } from '@jest/globals'
import { NOTICE_KINDS } from '../../layers/gateway/domain/keys/notice.ts'
import { ENV, EVENT_SOURCE, OUTPUTS, stackName } from '../../layers/gateway/names.ts'
import { commandsOf } from '../documents/support/markdown.ts'
import { type Synthesized, synthesized } from './support/synthesized.ts'

const prod = await synthesized('prod')
/** Prod, with notices. */
const told = await synthesized('mailed')

/** The roles that may do something with EventBridge, with each right. */
const rightsIn = (stack: Synthesized) =>
  Object.keys(stack.of('AWS::IAM::Role')).flatMap((role) =>
    stack
      .rightsOf(role)
      .filter((right) => right.startsWith('events:'))
      .map((right) => `${role} ${right}`),
  )

test('a stage has a bus only if its settings ask for it, and the sweep alone may put events on it, of our own source only', () => {
  expect([prod.of('AWS::Events::EventBus'), rightsIn(prod)]).toEqual([{}, []])
  expect(told.at('Notices/Bus').Name).toBe('Waybill-prod')
  expect(told.outputs[OUTPUTS.eventBus]).toBe('<Notices/Bus>')
  const where = JSON.stringify({ StringEquals: { 'events:source': EVENT_SOURCE } })
  expect(rightsIn(told)).toEqual([`Functions/SweepRole events:PutEvents on <Notices/Bus.Arn> ${where}`])
  const named = Object.entries(told.of('AWS::Lambda::Function')).filter(
    ([, { Environment }]) => Environment?.Variables?.[ENV.eventBus] !== undefined,
  )
  expect(named.map(([path]) => path)).toEqual(['Functions/Sweep'])
})

test('the rule of the documents takes notices from the bus of a stage, and keeps those that are not taken', () => {
  const [rule = '', targets = ''] = commandsOf('docs/operate.md').filter((command) => command.startsWith('aws events '))
  for (const command of [rule, targets]) expect(command).toContain(`--event-bus-name ${stackName('prod')} `)
  const [pattern, [target]] = [rule, targets].map((command) => JSON.parse(/'(.*)'$/.exec(command)?.[1] ?? ''))
  expect(pattern.source).toEqual([EVENT_SOURCE])
  expect(NOTICE_KINDS).toEqual(expect.arrayContaining(pattern['detail-type']))
  expect(target).toMatchObject({ InputPath: '$.detail', DeadLetterConfig: {} })
})
