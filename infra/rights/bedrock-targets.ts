import type { CatalogData } from '../../layers/gateway/domain/routing/catalog.ts'

// The placeholders in CloudFormation's templates, and in cdk-nag's findings.
export const PARTITION = '<AWS::Partition>'
export const ACCOUNT = '<AWS::AccountId>'

/** The regions to which an inference profile may route a call, by the first word of its id. */
const REGIONS_OF_GEOGRAPHY = new Map([
  ['us', 'us-*'],
  ['us-gov', 'us-gov-*'],
  ['eu', 'eu-*'],
  ['apac', 'ap-*'],
  ['jp', 'ap-northeast-*'],
  ['au', 'ap-southeast-*'],
  ['ca', 'ca-*'],
  // A global profile's calls are authorized on an ARN without a region.
  ['global', ''],
])

/** The rights that one route needs: ARNs that it calls, and models that it reaches only through a profile. */
type Target = { readonly called: string; readonly through?: readonly string[] }

/** The models behind the catalog's Bedrock routes, and the routes whose model is not in their name. */
export function foundationModels({ providers, models }: CatalogData) {
  const known = new Map<string, { readonly model: string; readonly region: string }>()
  const unnamed = new Set<string>()
  for (const { provider, model: routed } of models.flatMap(({ routes }) => routes)) {
    const entry = providers[provider]
    if (entry?.type !== 'bedrock') continue
    const { kind, name = routed, region = entry.region } = ARN.exec(routed)?.groups ?? {}
    const isProfile = kind === 'inference-profile' || (!kind && REGIONS_OF_GEOGRAPHY.has(geographyOf(name)))
    const model = isProfile ? name.slice(geographyOf(name).length + 1) : name
    if (!kind || isProfile || kind === 'foundation-model') known.set(`${region} ${model}`, { model, region })
    else unnamed.add(routed)
  }
  return { known: [...known.values()], unnamed: [...unnamed] }
}

/** The ARNs that the catalog's Bedrock routes call, each once. */
export function targetsOf({ providers, models }: CatalogData): Target[] {
  const byArn = new Map<string, Target>()
  for (const { provider, model } of models.flatMap(({ routes }) => routes)) {
    const entry = providers[provider]
    if (entry?.type !== 'bedrock') continue
    const target = targetOf(model, entry.region)
    byArn.set(target.called, target)
  }
  return [...byArn.values()]
}

const ARN = /^arn:[^:]+:bedrock:(?<region>[^:]*):[^:]*:(?<kind>[^/]+)\/(?<name>.+)$/

function targetOf(model: string, region: string): Target {
  const { kind, name = '', region: arnRegion = '' } = ARN.exec(model)?.groups ?? {}
  if (kind === 'inference-profile') return { called: model, through: modelsBehind(name, arnRegion) }
  // The name of an application's own profile does not tell its model.
  if (kind === 'application-inference-profile')
    return { called: model, through: [modelArn('*', '*'), modelArn('', '*')] }
  if (kind) return { called: model }
  if (!REGIONS_OF_GEOGRAPHY.has(geographyOf(model))) return { called: modelArn(region, model) }
  const called = `arn:${PARTITION}:bedrock:${region}:${ACCOUNT}:inference-profile/${model}`
  return { called, through: modelsBehind(model, region) }
}

function geographyOf(profile: string): string {
  return profile.slice(0, profile.indexOf('.'))
}

/** The model in the profile's own region, and in those to which it may route a call. */
function modelsBehind(profile: string, region: string): string[] {
  const geography = geographyOf(profile)
  const model = profile.slice(geography.length + 1)
  return [modelArn(region, model), modelArn(REGIONS_OF_GEOGRAPHY.get(geography) ?? '*', model)]
}

function modelArn(region: string, model: string): string {
  return `arn:${PARTITION}:bedrock:${region}::foundation-model/${model}`
}
