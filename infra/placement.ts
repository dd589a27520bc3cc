import { Stack, Token } from 'aws-cdk-lib'
import type { Construct } from 'constructs'
import cdk from '../cdk.json' with { type: 'json' }
import { LOCAL_STAGE } from '../layers/gateway/names.ts'
import { US_EAST_1, WITHOUT_FUNCTION_URLS } from './regions.ts'
import { settingsFaults } from './settings.ts'
import { STAGE_NAMES, type Stage, stageOf } from './stages.ts'

const { stage: _, ...FEATURE_FLAGS } = cdk.context

/** CDK's feature flags as Waybill was tested with them, whichever the app has for its other constructs. */
export function setFeatureFlags(construct: Construct): void {
  for (const [name, value] of Object.entries(FEATURE_FLAGS)) construct.node.setContext(name, value)
}

/** The region to which the stack will be deployed: its own, or that of the command. Its template depends on it. */
export function regionOf({ region, node }: Stack): string {
  const known = Token.isUnresolved(region) ? process.env.CDK_DEFAULT_REGION : region
  if (known) return known
  throw new Error(
    `The stack '${node.path}' has no region: set AWS_REGION, or give the stack one, as in env: { region: '${US_EAST_1}' }.`,
  )
}

/** Names metrics, secrets, a dashboard, and a database of Glue, each of which has its own rules. */
const NAME = /^[a-z][a-z0-9-]{0,30}$/

type Given = { readonly stage: string; readonly name?: string | undefined; readonly catalog?: string | undefined }

export function stageFrom(construct: Construct, given: Given | undefined): Stage {
  const { stage, name = stage, catalog, ...settings } = given ?? ({} as Given)
  const own = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined))
  const faults = [
    ...(STAGE_NAMES.includes(stage) ? settingsFaults(stage, own, Token.isUnresolved) : [faultOfStage(stage)]),
    ...(NAME.test(name) && name !== LOCAL_STAGE ? [] : [faultOfName(name)]),
    ...(catalog === undefined || typeof catalog === 'string' ? [] : ['catalog: must be the path of a file']),
  ]
  if (faults.length > 0)
    throw new Error(`Waybill '${construct.node.path}' has wrong properties.\n  ${faults.join('\n  ')}`)
  const asGiven = { ...stageOf(stage, { [stage]: own }), name }
  // The edge's logs have clients' addresses, and lie in us-east-1: a stage of another region has them only if it says so.
  return regionOf(Stack.of(construct)) === US_EAST_1 || own.edgeLogs ? asGiven : { ...asGiven, edgeLogs: false }
}

const faultOfStage = (stage: unknown) => `stage: must be ${STAGE_NAMES.join(' or ')}, which '${stage}' is not`
const faultOfName = (name: unknown) =>
  `name: must be small letters, digits and hyphens, at most 31, from a letter on, and not '${LOCAL_STAGE}'; '${name}' is not`

/** The gateways of each app, to find two that cannot be deployed beside each other. */
const GATEWAYS = new WeakMap<object, { readonly place: string; readonly name: string; readonly stack: Stack }[]>()

/** Throws if a gateway cannot be deployed here, before a deployment fails half-way. */
export function checkPlace(construct: Construct, { name, backup }: Stage): void {
  const stack = Stack.of(construct)
  const region = regionOf(stack)
  // In prod a deployment that fails half-way leaves its tables behind.
  if (WITHOUT_FUNCTION_URLS.includes(region)) {
    throw new Error(
      `Lambda has no Function URLs in ${region}, and chat needs one to stream: choose another region, by AWS_REGION or by the stack's env. These have none: ${WITHOUT_FUNCTION_URLS.join(', ')}.`,
    )
  }
  if (backup?.[0]?.split(':')[3] === region) {
    throw new Error(`The first vault of "backup" is in ${region}, as the gateway is: name one of another region first.`)
  }
  if (stack.nestedStackParent) {
    throw new Error(
      `Waybill '${construct.node.path}' is in a nested stack, whose outputs no command finds. Put it in a stack of its own.`,
    )
  }
  const others = GATEWAYS.get(construct.node.root) ?? []
  const place = `${stack.account} ${region}`
  GATEWAYS.set(construct.node.root, [...others, { place, name, stack }])
  if (others.some((it) => it.stack === stack)) {
    throw new Error(
      `The stack '${stack.node.path}' has a Waybill already. A command finds a gateway by the outputs of its stack, so put '${construct.node.path}' in another.`,
    )
  }
  const same = others.find((it) => it.place === place && it.name === name)
  if (!same) return
  throw new Error(
    `Waybill '${construct.node.path}' has the name '${name}', which the one in '${same.stack.node.path}' has in the same account and region. Give it another 'name', so that each has metrics and secrets of its own.`,
  )
}
