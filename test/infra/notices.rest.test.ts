import { beforeAll, expect, test } from '@jest/globals'
import { App } from 'aws-cdk-lib'
import { Template } from 'aws-cdk-lib/assertions'
import { NoticeRules } from '../../examples/notices/notice-rules.ts'
import { NOTICE_KINDS } from '../../layers/gateway/domain/keys/notice.ts'
import { ENV, EVENT_SOURCE, OUTPUTS } from '../../layers/gateway/names.ts'
import { type Statement, type Synthesized, synthesized, textOf } from './support/synthesized.ts'

let prod: Synthesized
/** Prod, with notices. */
let told: Synthesized
beforeAll(async () => {
  prod = await synthesized('prod')
  told = await synthesized('mailed')
}, 180_000)

const BUS = 'AWS::Events::EventBus'
const busesOf = ({ template }: Synthesized) => Object.entries(template.findResources(BUS))

function putters({ template }: Synthesized): Statement[] {
  const policies = Object.values(template.findResources('AWS::IAM::Policy'))
  const statements: Statement[] = policies.flatMap(({ Properties }) => Properties.PolicyDocument.Statement)
  return statements.filter(({ Action }) => [Action].flat().some((action) => action.startsWith('events:')))
}

test('a stage has a bus only if its settings ask for it', () => {
  expect([busesOf(prod), putters(prod)]).toEqual([[], []])
  const [[id, bus] = []] = busesOf(told)
  expect(bus?.Properties.Name).toBe('Waybill-prod')
  expect(told.template.json.Outputs[OUTPUTS.eventBus]).toEqual({ Value: { Ref: id } })
})

test('the sweep alone may put events on it, of our own source only', () => {
  const [[id] = []] = busesOf(told)
  const [statement, ...others] = putters(told)
  expect(others).toEqual([])
  expect([statement?.Action, textOf(statement?.Resource), statement?.Condition]).toEqual([
    'events:PutEvents',
    `<${id}.Arn>`,
    { StringEquals: { 'events:source': EVENT_SOURCE } },
  ])
  const named = Object.entries(told.template.findResources('AWS::Lambda::Function')).filter(
    ([, { Properties }]) => Properties.Environment?.Variables?.[ENV.eventBus] !== undefined,
  )
  expect(named.map(([name]) => name)).toEqual([told.functions.sweep])
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
