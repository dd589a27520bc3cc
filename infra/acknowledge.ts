import { type Acknowledgment, Stack, Validations } from 'aws-cdk-lib'
import type { Construct, IConstruct } from 'constructs'

export function acknowledge(construct: IConstruct, rule: string, reason: string): void {
  Validations.of(construct).acknowledge({ id: `AwsSolutions::AwsSolutions-${rule}`, reason })
}

/** A resource with a wildcard, as cdk-nag names it in its findings: with `<Name>` for whatever CloudFormation fills in. */
export function wildcard(scope: Construct, resource: string, reason: string): Acknowledgment {
  return { id: `AwsSolutions::AwsSolutions-IAM5[Resource::${textOf(Stack.of(scope).resolve(resource))}]`, reason }
}

type Intrinsic = string | { readonly Ref?: string; readonly 'Fn::GetAtt'?: string[]; readonly 'Fn::Join'?: Join }
type Join = readonly [separator: string, parts: readonly Intrinsic[]]

function textOf(value: Intrinsic): string {
  if (typeof value === 'string') return value
  const { Ref, 'Fn::GetAtt': attribute, 'Fn::Join': joined } = value
  if (joined) return joined[1].map(textOf).join(joined[0])
  return `<${Ref ?? attribute?.join('.')}>`
}
