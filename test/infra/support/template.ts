/** As JSON.parse has it: anything. */
export type Json = ReturnType<typeof JSON.parse>

/** A CloudFormation template, as it is deployed. */
export type Template = {
  readonly json: {
    readonly Resources: Readonly<Record<string, Readonly<Record<string, Json>>>>
    readonly Conditions: Readonly<Record<string, Json>>
    readonly Outputs: Readonly<Record<string, Json>>
  }
}
