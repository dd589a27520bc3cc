import type { Stack } from '@aws-sdk/client-cloudformation'
import type { CatalogData } from '../../layers/gateway/domain/routing/catalog.ts'
import type { Stage } from '../stages.ts'
import type { Aws } from './aws.ts'

/** The subject of the checks: the account, the stage that is to be deployed, and its first catalog. */
export type Plan = { readonly aws: Aws; readonly stage: Stage; readonly catalog: CatalogData }

/** `unknown` cannot be known before the deployment; only `failed` prevents it. */
export type Outcome =
  | { readonly is: 'ok'; readonly what: string }
  | { readonly is: 'failed' | 'unknown'; readonly what: string; readonly advice: string }

export type Look = (plan: Plan) => Promise<Outcome>

export const ok = (what: string): Outcome => ({ is: 'ok', what })
export const failed = (what: string, advice: string): Outcome => ({ is: 'failed', what, advice })
export const unknown = (what: string, advice: string): Outcome => ({ is: 'unknown', what, advice })

export function outputOf({ Outputs = [] }: Stack, name: string): string | undefined {
  return Outputs.find(({ OutputKey }) => OutputKey === name)?.OutputValue
}
