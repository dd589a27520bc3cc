import { beforeAll, expect, test } from '@jest/globals'
import { ENV, OUTPUTS } from '../../layers/gateway/contract.ts'
import { API_FUNCTION_NAMES } from '../../layers/gateway/endpoints.ts'
import { FUNCTIONS, type Name } from '../support/functions.ts'
import { type Statement, type Synthesized, synthesized } from './support/synthesized.ts'

let dev: Synthesized
let prod: Synthesized
let traced: Synthesized
beforeAll(async () => {
  dev = await synthesized('dev')
  prod = await synthesized('prod')
  traced = await synthesized('bare')
}, 180_000)

const CALLED: readonly string[] = ['chat', ...API_FUNCTION_NAMES]

const functionOf = ({ template, functions }: Synthesized, name: Name) =>
  template.findResources('AWS::Lambda::Function')[functions[name]]?.Properties

/** The rights of a function to X-Ray. */
function rightsOf(stack: Synthesized, name: Name): Statement[] {
  const role = functionOf(stack, name).Role['Fn::GetAtt'][0]
  return Object.values(stack.template.findResources('AWS::IAM::Policy'))
    .filter(({ Properties }) => Properties.Roles.some(({ Ref }: { Ref: string }) => Ref === role))
    .flatMap(({ Properties }): Statement[] => Properties.PolicyDocument.Statement)
    .filter(({ Action }) => [Action].flat().some((action) => action.startsWith('xray:')))
}

test.each(FUNCTIONS)(
  'the %s function traces if callers call it and its stage says so, and else has no right to',
  (name) => {
    const isTraced = CALLED.includes(name)
    expect(functionOf(traced, name).TracingConfig).toEqual(isTraced ? { Mode: 'Active' } : undefined)
    expect(functionOf(traced, name).Environment?.Variables[ENV.tracing]).toBe(isTraced ? 'on' : undefined)
    expect(rightsOf(traced, name)).toEqual(
      isTraced
        ? [{ Effect: 'Allow', Action: ['xray:PutTelemetryRecords', 'xray:PutTraceSegments'], Resource: '*' }]
        : [],
    )
    for (const stack of [dev, prod]) {
      expect(functionOf(stack, name)).not.toHaveProperty('TracingConfig')
      expect(functionOf(stack, name).Environment?.Variables[ENV.tracing]).toBeUndefined()
      expect(rightsOf(stack, name)).toEqual([])
    }
  },
)

test('the outputs say whether a stage traces', () => {
  expect([dev, prod, traced].map(({ template }) => template.json.Outputs[OUTPUTS.tracing].Value)).toEqual([
    ...['false', 'false'],
    'true',
  ])
})
