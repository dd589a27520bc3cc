import { Aws } from 'aws-cdk-lib'
import { PolicyStatement } from 'aws-cdk-lib/aws-iam'
import type { CatalogData } from '../../layers/gateway/domain/routing/catalog.ts'
import { ACCOUNT, PARTITION, targetsOf } from './bedrock-targets.ts'

const ACTIONS = ['bedrock:InvokeModel', 'bedrock:InvokeModelWithResponseStream']
const MANTLE_ACTIONS = ['bedrock-mantle:CreateInference', 'bedrock-mantle:CountTokens']

/** The right to call exactly the models of the catalog's Bedrock routes; none if it has no such route. */
export function invokeBedrock(catalog: CatalogData): PolicyStatement[] {
  const targets = targetsOf(catalog)
  const allow = (arns: readonly string[], equals?: Record<string, string>, actions = ACTIONS) =>
    new PolicyStatement({
      actions,
      resources: arns.map(toToken),
      ...(equals && { conditions: { StringEquals: equals } }),
    })
  // CDK puts what is too long for one policy into several, and divides no statement.
  return [
    ...targets.map(({ called, model }) =>
      model ? allow([called], { 'bedrock-mantle:Model': model }, MANTLE_ACTIONS) : allow([called]),
    ),
    ...targets.flatMap(({ called, through }) =>
      through ? [allow(through, { 'bedrock:InferenceProfileArn': toToken(called) })] : [],
    ),
  ]
}

/** cdk-nag's findings in these statements, each with the reason why it is as narrow as it can be. */
export function acknowledgedWildcards(catalog: CatalogData): { id: string; reason: string }[] {
  const arns = targetsOf(catalog).flatMap(({ through }) => through ?? [])
  return [...new Set(arns.filter((arn) => arn.includes('*')))].map((arn) => ({
    id: `AwsSolutions::AwsSolutions-IAM5[Resource::${arn}]`,
    reason:
      'An inference profile passes calls on to regions of AWS’s choosing; only through that profile is it allowed.',
  }))
}

function toToken(arn: string): string {
  return arn.replace(PARTITION, Aws.PARTITION).replace(ACCOUNT, Aws.ACCOUNT_ID)
}
