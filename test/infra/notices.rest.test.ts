import { expect, test } from '@jest/globals'
import { App } from 'aws-cdk-lib'
import { Template } from 'aws-cdk-lib/assertions'
import { NoticeRules } from '../../examples/notices/notice-rules.ts'
import { NOTICE_KINDS } from '../../layers/gateway/domain/keys/notice.ts'
import { ENV, EVENT_SOURCE, OUTPUTS } from '../../layers/gateway/names.ts'
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

test('the example brings notices to a webhook with a secret, to a mailbox and to a queue', () => {
  const webhook = { url: 'https://example.com/notices', secretName: 'notices' }
  const stack = new NoticeRules(new App(), 'NoticeRules', {
    busName: 'Waybill-prod',
    webhook,
    email: 'you@example.com',
  })
  const template = Template.fromStack(stack)
  const rules = Object.values(template.findResources('AWS::Events::Rule'))
  expect(rules).toHaveLength(3)
  for (const { Properties } of rules) {
    expect(Properties.EventBusName).toBe('Waybill-prod')
    expect(Properties.EventPattern.source).toEqual([EVENT_SOURCE])
    expect(NOTICE_KINDS).toEqual(expect.arrayContaining(Properties.EventPattern['detail-type'] ?? []))
    expect(Properties.Targets[0].DeadLetterConfig).toBeDefined()
  }
  const [connection] = Object.values(template.findResources('AWS::Events::Connection'))
  const auth = connection?.Properties.AuthParameters.ApiKeyAuthParameters
  expect(auth).toMatchObject({ ApiKeyName: 'authorization', ApiKeyValue: expect.stringContaining('{{resolve:') })
  for (const type of ['AWS::Events::ApiDestination', 'AWS::SNS::Topic', 'AWS::SNS::Subscription']) {
    template.resourceCountIs(type, 1)
  }
})
