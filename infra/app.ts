import { App } from 'aws-cdk-lib'
import { WaybillStack } from './stack.ts'
import { stageOf } from './stages.ts'

const app = new App()
const stage = stageOf(app.node.tryGetContext('stage'))
new WaybillStack(app, `Waybill-${stage.name}`, { stage })
