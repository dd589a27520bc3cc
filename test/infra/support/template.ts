/** As JSON.parse has it: anything. */
type Json = ReturnType<typeof JSON.parse>
type Resource = Readonly<Record<string, Json>>

/** A CloudFormation template, as it is deployed. */
export class Template {
  readonly json: {
    readonly Resources: Readonly<Record<string, Resource>>
    readonly Conditions: Readonly<Record<string, Json>>
    readonly Outputs: Readonly<Record<string, Json>>
  }

  constructor(json: Json) {
    this.json = json
  }

  /** By logical id. */
  findResources(type: string): Record<string, Resource> {
    return Object.fromEntries(Object.entries(this.json.Resources).filter(([, { Type }]) => Type === type))
  }
}
