import { signingName } from '../../layers/gateway/domain/routing/bedrock-address.ts'
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

const ARN = /^arn:[^:]+:bedrock:(?<region>[^:]*):[^:]*:(?<kind>[^/]+)\/(?<name>.+)$/

/** The catalog's routes to Bedrock, each by its id or its ARN; of a profile, `model` is the one behind it. */
function bedrockRoutes({ providers, models }: CatalogData) {
  return models
    .flatMap(({ routes }) => routes)
    .flatMap(({ provider, model: id }) => {
      const entry = providers[provider]
      if (entry?.region === undefined) return []
      const isAtMantle = entry.type !== 'bedrock' && signingName(entry.baseUrl, entry.region) === 'bedrock-mantle'
      const { kind, name = id, region = entry.region } = ARN.exec(id)?.groups ?? {}
      const geography = name.slice(0, name.indexOf('.'))
      const isProfile = kind === 'inference-profile' || (!kind && REGIONS_OF_GEOGRAPHY.has(geography))
      return {
        id,
        kind,
        region,
        geography,
        isProfile,
        isAtMantle,
        model: isProfile ? name.slice(geography.length + 1) : name,
      }
    })
}

/** The models behind the catalog's Bedrock routes, and the routes whose model is not in their name. */
export function foundationModels(catalog: CatalogData) {
  const known = new Map<string, { readonly model: string; readonly region: string }>()
  const unnamed = new Set<string>()
  for (const { id, kind, region, isProfile, model } of bedrockRoutes(catalog)) {
    if (!kind || isProfile || kind === 'foundation-model') known.set(`${region} ${model}`, { model, region })
    else unnamed.add(id)
  }
  return { known: [...known.values()], unnamed: [...unnamed] }
}

/** The rights that one route needs: ARNs that it calls, and models that it reaches only through a profile, or in a project. */
type Target = { readonly called: string; readonly through?: readonly string[]; readonly model?: string }

export function targetsOf(catalog: CatalogData): Target[] {
  const targets = bedrockRoutes(catalog).map(targetOf)
  return [...new Map(targets.map((target) => [target.called + target.model, target])).values()]
}

type BedrockRoute = ReturnType<typeof bedrockRoutes>[number]

function targetOf({ id, kind, region, geography, isProfile, isAtMantle, model }: BedrockRoute): Target {
  // We name no project, so the account's default one is asked.
  if (isAtMantle) return { called: `arn:${PARTITION}:bedrock-mantle:${region}:${ACCOUNT}:project/default`, model: id }
  if (isProfile) {
    const regions = REGIONS_OF_GEOGRAPHY.get(geography) ?? '*'
    // The model in those to which the profile may route a call, and in its own region, if that is another one.
    const isAmongThem = regions !== '' && region.startsWith(regions.slice(0, -1))
    const through = [...(isAmongThem ? [] : [region]), regions].map((it) => modelArn(it, model))
    return { called: kind ? id : `arn:${PARTITION}:bedrock:${region}:${ACCOUNT}:inference-profile/${id}`, through }
  }
  // The name of an application's own profile does not tell its model.
  if (kind === 'application-inference-profile') return { called: id, through: [modelArn('*', '*'), modelArn('', '*')] }
  return { called: kind ? id : modelArn(region, id) }
}

function modelArn(region: string, model: string): string {
  return `arn:${PARTITION}:bedrock:${region}::foundation-model/${model}`
}
