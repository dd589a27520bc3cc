import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib'
import type { Construct } from 'constructs'
import type { Stage } from './stages.ts'
import { Tables } from './tables.ts'

export class WaybillStack extends Stack {
  constructor(scope: Construct, id: string, { stage, ...props }: StackProps & { readonly stage: Stage }) {
    super(scope, id, props)
    const tables = new Tables(this, 'Tables', stage)
    new CfnOutput(this, 'KeysTable', { value: tables.keys.tableName })
    new CfnOutput(this, 'UsageTable', { value: tables.usage.tableName })
  }
}
