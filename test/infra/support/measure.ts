import type { DeployedStack } from './deployed-stack.ts'
import { LIMITS } from './limits.ts'
import type { Json } from './template.ts'

type Size = readonly [part: string, got: number]
export type Measured = { readonly limit: string; readonly most: number; readonly parts: readonly Size[] }
type Plain = { readonly Resources: Record<string, Json>; readonly Outputs?: Json; readonly Parameters?: Json }

const [REGION, PARTITION, ACCOUNT] = ['us-gov-west-1', 'aws-us-gov', '123456789012']
/** The longest region with its partition: no ARN is longer than there. */
const PSEUDO: Record<string, string> = {
  'AWS::Region': REGION,
  'AWS::Partition': PARTITION,
  'AWS::AccountId': ACCOUNT,
  'AWS::URLSuffix': 'amazonaws.com',
  'AWS::NoValue': '',
}
/** Services bound the names that CloudFormation makes for them. */
const BOUND: Record<string, number> = { 'AWS::IAM::Role': 64, 'AWS::Lambda::Function': 64 }

/** The template with names and ARNs as a deployment has them, each as long as it can be. */
export function resolved({ name: stackName, template }: DeployedStack): Plain {
  const { Resources } = template
  const nameOf = (id: string): string => {
    const { Type = '', Properties = {} } = Resources[id] ?? {}
    const given = Properties.TableName ?? Properties.LogGroupName ?? Properties.EventBusName
    if (given !== undefined) return String(plain(given))
    return `${stackName}-${id}-${'X'.repeat(13)}`.slice(0, BOUND[Type] ?? 255)
  }
  const arnOf = (id: string) => {
    const [, service = '', kind = ''] = (Resources[id]?.Type ?? '').toLowerCase().split('::')
    return `arn:${PARTITION}:${service}:${REGION}:${ACCOUNT}:${kind}/${nameOf(id)}`
  }
  const plain = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(plain)
    if (typeof value !== 'object' || value === null) return value
    const { Ref, 'Fn::GetAtt': attribute, 'Fn::Join': joined } = value
    if (Ref === 'AWS::StackName') return stackName
    if (Ref === 'AWS::StackId') return `arn:${PARTITION}:cloudformation:${REGION}:${ACCOUNT}:stack/${stackName}/${GUID}`
    if (Ref !== undefined) return PSEUDO[Ref] ?? nameOf(Ref)
    if (attribute) return /Arn$/.test(attribute[1]) ? arnOf(attribute[0]) : nameOf(attribute[0])
    if (joined) return joined[1].map(plain).join(joined[0])
    const [[key = '', inner] = []] = Object.entries<Json>(value)
    if (key === 'Fn::If') return plain(inner[1])
    if (key.startsWith('Fn::')) return 'X'.repeat(64)
    return Object.fromEntries(Object.entries(value).map(([member, it]) => [member, plain(it)]))
  }
  return plain(template)
}
const GUID = '00000000-0000-0000-0000-000000000000'

const textOf = (value: Json) => JSON.stringify(value ?? '')
const sizeOf = (values: Json) => Object.keys(values ?? {}).length
const policySize = ({ PolicyDocument }: Json) => textOf(PolicyDocument).replaceAll(/\s/g, '').length

const of = ({ Resources }: Plain, type: string) =>
  Object.entries(Resources).flatMap(([id, { Type, Properties = {} }]): [string, Json][] =>
    Type === type ? [[id, Properties]] : [],
  )

/** The policies of a kind that name a role, in the template before its names are resolved. */
function attached({ template }: DeployedStack, kind: string, role: string): string[] {
  const isOf = ({ Type, Properties }: Json) => Type === kind && textOf(Properties.Roles).includes(`{"Ref":"${role}"}`)
  return Object.entries(template.Resources).flatMap(([id, it]) => (isOf(it) ? [id] : []))
}

/** How much each part of a stack has of what is limited. */
export const MEASURES: {
  readonly [Name in Exclude<keyof typeof LIMITS, 'charactersOfName' | 'charactersOfDelivery'>]: (
    it: Plain,
    stack: DeployedStack,
  ) => Size[]
} = {
  charactersOfManagedPolicy: (it) => of(it, 'AWS::IAM::ManagedPolicy').map(([id, own]) => [id, policySize(own)]),
  charactersOfInlinePoliciesOfRole: (it, stack) =>
    of(it, 'AWS::IAM::Role').map(([id]) => {
      const own = attached(stack, 'AWS::IAM::Policy', id).map((policy) => policySize(it.Resources[policy].Properties))
      return [id, own.reduce((sum, size) => sum + size, 0)]
    }),
  managedPoliciesOfRole: (it, stack) =>
    of(it, 'AWS::IAM::Role').map(([id, { ManagedPolicyArns = [] }]) => [
      id,
      ManagedPolicyArns.length + attached(stack, 'AWS::IAM::ManagedPolicy', id).length,
    ]),
  resources: (it) => [['the stack', sizeOf(it.Resources)]],
  outputs: (it) => [['the stack', sizeOf(it.Outputs)]],
  parameters: (it) => [['the stack', sizeOf(it.Parameters)]],
  bytesOfTemplate: (_, { template }) => [['the stack', Buffer.byteLength(JSON.stringify(template, null, 1))]],
  bytesOfVariables: (it) =>
    of(it, 'AWS::Lambda::Function').map(([id, { Environment }]) => [id, Buffer.byteLength(textOf(Environment))]),
  metricsOfAlarm: (it) =>
    of(it, 'AWS::CloudWatch::Alarm').map(([id, { Metrics = [] }]) => [
      id,
      Metrics.filter(({ MetricStat }: Json) => MetricStat).length,
    ]),
  bytesOfSeed: (it) =>
    of(it, 'Custom::WaybillCatalogSeed').map(([id, { Create }]) => [id, Buffer.byteLength(textOf(Create))]),
}

/** Every row of the limits with all that was measured by it. */
export function measured(stack: DeployedStack): Measured[] {
  const it = resolved(stack)
  const { charactersOfName, charactersOfDelivery: _, ...others } = LIMITS
  const names = Object.entries(charactersOfName).map(([place, most]) => {
    const [type = '', property = ''] = place.split('.')
    const parts = of(it, type).map(([id, own]): Size => [id, String(own[property] ?? '').length])
    return { limit: place, most, parts }
  })
  const rows = Object.entries(others).map(([limit, most]) => ({
    limit,
    most,
    parts: MEASURES[limit as keyof typeof MEASURES](it, stack),
  }))
  return [...rows, ...names]
}

/** All that is beyond a limit. */
export const beyond = (stack: DeployedStack) =>
  measured(stack).flatMap(({ limit, most, parts }) =>
    parts.flatMap(([part, got]) => (got > most ? [`${stack.name} ${part}: ${got} ${limit}, at most ${most}`] : [])),
  )
