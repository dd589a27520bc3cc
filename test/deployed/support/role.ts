import type { DynamoDbCall } from './dynamodb-proxy.ts'
import { type Intrinsic, type Resource, resolveValue, type Template } from './template.ts'

/** The rights to the tables that a role or a policy gives. */
export type Role = { allows(call: DynamoDbCall): boolean }

export type Statement = {
  readonly Action: string | readonly string[]
  readonly Resource: Intrinsic | readonly Intrinsic[]
  readonly Condition?: { readonly 'ForAllValues:StringLike'?: { readonly 'dynamodb:LeadingKeys': LeadingKeys } }
}
type LeadingKeys = string | readonly string[]

export function roleOf(template: Template, roleId: string, referenceTo: (resource: Resource) => string): Role {
  const policies = Object.values(template.Resources).filter(
    ({ Type, Properties }) =>
      Type === 'AWS::IAM::Policy' && (Properties.Roles as { Ref: string }[]).some(({ Ref }) => Ref === roleId),
  )
  return rightsOf(template, policies.flatMap(statementsOf), referenceTo)
}

export function statementsOf({ Properties }: Resource): Statement[] {
  return (Properties.PolicyDocument as { Statement: Statement[] }).Statement
}

export function rightsOf(
  template: Template,
  given: readonly Statement[],
  referenceTo: (resource: Resource) => string,
): Role {
  const statements = given.filter(({ Action }) => listOf(Action).some((action) => action.startsWith('dynamodb:')))
  return { allows: (call) => statements.some((statement) => permits(statement, call)) }

  function permits(
    { Action, Resource, Condition }: Statement,
    { operation, table, leadingKey }: DynamoDbCall,
  ): boolean {
    const tables = (Array.isArray(Resource) ? Resource : [Resource]) as Intrinsic[]
    const patterns = Condition?.['ForAllValues:StringLike']?.['dynamodb:LeadingKeys']
    return (
      listOf(Action).includes(`dynamodb:${operation}`) &&
      tables.some((it) => resolveValue(template, it, referenceTo) === table) &&
      (patterns === undefined || listOf(patterns).some((pattern) => isLike(leadingKey, pattern)))
    )
  }
}

function listOf(value: string | readonly string[]): readonly string[] {
  return typeof value === 'string' ? [value] : value
}

function isLike(text: string | undefined, pattern: string): boolean {
  if (text === undefined) return false
  return pattern.endsWith('*') ? text.startsWith(pattern.slice(0, -1)) : text === pattern
}
