export type Intrinsic =
  | string
  | { readonly Ref: string }
  | { readonly 'Fn::GetAtt': readonly [string, string] }
  | { readonly 'Fn::Join': readonly [string, readonly Intrinsic[]] }

export type Resource = {
  readonly Type: string
  readonly Properties: Readonly<Record<string, unknown>>
  readonly Metadata: { readonly 'aws:cdk:path'?: string; readonly 'aws:asset:path'?: string }
}

export type Template = { readonly Resources: Readonly<Record<string, Resource>> }

/** The path of a resource in the tree of the stack's one construct: `Functions/Chat`. */
export function pathOf(resource: Resource): string {
  return (resource.Metadata?.['aws:cdk:path'] ?? '').split('/').slice(2, -1).join('/')
}

const SECRET_REFERENCE = /\{\{resolve:secretsmanager:([^:]+):SecretString:::\}\}/g

/** The value that CloudFormation would resolve. A resource, its ARN and the content of a secret are all its one reference. */
export function resolveValue(
  template: Template,
  value: Intrinsic,
  referenceTo: (resource: Resource) => string,
): string {
  return resolve(value).replace(SECRET_REFERENCE, '$1')

  function resolve(it: Intrinsic): string {
    if (typeof it === 'string') return it
    if ('Fn::Join' in it) return it['Fn::Join'][1].map(resolve).join(it['Fn::Join'][0])
    const id = 'Ref' in it ? it.Ref : it['Fn::GetAtt'][0]
    if (id.startsWith('AWS::')) return id
    const resource = template.Resources[id]
    if (!resource) throw new Error(`The template has no resource ${id}.`)
    return referenceTo(resource)
  }
}
