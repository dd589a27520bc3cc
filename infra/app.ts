import { App, Validations } from 'aws-cdk-lib'
import { AwsSolutionsChecks } from 'cdk-nag'
import { stackName } from '../layers/gateway/contract.ts'
import { WaybillStack } from './stack.ts'
import { stageOf } from './stages.ts'

const app = new App()
const context = (name: string): unknown => app.node.tryGetContext(name)
const stage = stageOf(context('stage'))
const email = context('alarmEmail')

new WaybillStack(app, stackName(stage.name), {
  stage,
  edge: String(context('edge')) !== 'false',
  alarmEmail: typeof email === 'string' ? email : undefined,
  description: `Waybill ${stage.name}: a chat routing gateway with an OpenAI-compatible contract`,
})
Validations.of(app).addPlugins(new AwsSolutionsChecks(app))
