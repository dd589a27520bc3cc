import { Aws } from 'aws-cdk-lib'
import { PolicyStatement } from 'aws-cdk-lib/aws-iam'
import type { CatalogData } from '../../layers/gateway/domain/routing/catalog.ts'
import { ACCOUNT, PARTITION, targetsOf } from './bedrock-targets.ts'

const ACTIONS = ['bedrock:InvokeModel', 'bedrock:InvokeModelWithResponseStream']

/** The right to call exactly the models of the catalog's Bedrock routes; none if it has no such route. */
export function invokeBedrock(catalog: CatalogData): PolicyStatement[] {
  const targets = targetsOf(catalog)
  const allow = (arns: readonly string[], profile?: string) =>
    new PolicyStatement({
      actions: ACTIONS,
      resources: arns.map(toToken),
      ...(profile && { conditions: { StringEquals: { 'bedrock:InferenceProfileArn': toToken(profile) } } }),
    })
  // CDK puts what is too long for one policy into several, and divides no statement.
  return [
    ...targets.map(({ called }) => allow([called])),
    ...targets.flatMap(({ called, through }) => (through ? [allow(through, called)] : [])),
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
