import { type App, Stack } from 'aws-cdk-lib'
import { stackName } from '../layers/gateway/names.ts'
import type { WaybillProps } from './props.ts'
import { ADOPTED_TAG, stageOf } from './stages.ts'
import { Waybill } from './waybill.ts'

export class WaybillStack extends Stack {
  constructor(app: App, props: WaybillProps) {
    const { stage, tableNames } = props
    super(app, stackName(stage), {
      description: `Waybill ${stage}: a chat routing gateway with an OpenAI-compatible contract`,
      terminationProtection: stageOf(stage).deletionProtection,
      // The bill is split by it: a cost allocation tag, once it is activated in the account.
      tags: { 'waybill:stage': stage, ...(tableNames && { [ADOPTED_TAG]: 'true' }) },
    })
    // With this id the names of its resources are those of the stack alone.
    new Waybill(this, 'Default', props)
  }
}
