import { WAYBILL } from '../../layers/terminal/how-to-run.ts'
import { foundationModels } from '../rights/bedrock-targets.ts'
import type { Aws } from './aws.ts'
import { type Check, failed, type Outcome, ok, unknown } from './check.ts'

type Availability = {
  readonly authorizationStatus?: string
  readonly entitlementAvailability?: string
  readonly regionAvailability?: string
  readonly agreementAvailability?: { readonly status?: string }
}

/** Asks about access only: no model is called. */
export const checkBedrock: Check = {
  name: 'bedrock',
  right: 'bedrock:GetFoundationModelAvailability',
  async look({ aws, catalog }) {
    const { known, unnamed } = foundationModels(catalog)
    if (known.length + unnamed.length === 0) return ok('the catalog has no Bedrock model')
    const closed: string[] = []
    for (const { model, region } of known) {
      const missing = await missingFor(aws, model, region)
      if (missing.length > 0) closed.push(`${model} in ${region} (${missing.join(', ')})`)
    }
    return outcomeOf(closed, unnamed, known.length)
  },
}

function outcomeOf(closed: readonly string[], unnamed: readonly string[], count: number): Outcome {
  if (closed.length > 0) {
    return failed(
      `no access to ${closed.join(' and ')}`,
      'Open the model in the Bedrock console of that region, and fill in what it asks for.',
    )
  }
  if (unnamed.length > 0) {
    return unknown(
      `which model is behind ${unnamed.join(' and ')} is not in its name`,
      `Try it after the deployment with '${WAYBILL} routes test'.`,
    )
  }
  return ok(`access to ${count} ${count === 1 ? 'model' : 'models'}`)
}

async function missingFor(aws: Aws, model: string, region: string): Promise<string[]> {
  const path = `/foundation-model-availability/${encodeURIComponent(model)}`
  const answer = JSON.parse(await aws.ask('bedrock', { path, region })) as Availability
  const needed: [string, string | undefined, string][] = [
    ['not in this region', answer.regionAvailability, 'AVAILABLE'],
    ['not authorized', answer.authorizationStatus, 'AUTHORIZED'],
    ['no entitlement', answer.entitlementAvailability, 'AVAILABLE'],
    ['its agreement is not accepted', answer.agreementAvailability?.status, 'AVAILABLE'],
  ]
  return needed.flatMap(([problem, got, wanted]) => (got === wanted ? [] : [problem]))
}
