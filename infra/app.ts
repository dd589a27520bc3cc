import { App, Validations } from 'aws-cdk-lib'
import { AwsSolutionsChecks } from 'cdk-nag'
import { stackName } from '../layers/gateway/contract.ts'
import { checkRegion } from './check-region.ts'
import { readSettings, refuseFlags } from './settings.ts'
import { WaybillStack } from './stack.ts'
import { stageOf } from './stages.ts'

const app = new App()
const context = (name: string): unknown => app.node.tryGetContext(name)
refuseFlags(context)
// The command's own word for where it will deploy to.
checkRegion(process.env.CDK_DEFAULT_REGION)
const stage = stageOf(context('stage'), readSettings())

new WaybillStack(app, stackName(stage.name), {
  stage,
  description: `Waybill ${stage.name}: a chat routing gateway with an OpenAI-compatible contract`,
})
Validations.of(app).addPlugins(new AwsSolutionsChecks(app))
