import { App, Validations } from 'aws-cdk-lib'
import { AwsSolutionsChecks } from 'cdk-nag'
import { checkRegion } from './preflight/check-region.ts'
import { readSettings, refuseFlags } from './settings.ts'
import { addStacks } from './stacks.ts'
import { stageOf, US_EAST_1 } from './stages.ts'

const app = new App()
const context = (name: string): unknown => app.node.tryGetContext(name)
refuseFlags(context)
// The region to which the command will deploy.
const { CDK_DEFAULT_REGION: region } = process.env
checkRegion(region)
const stage = stageOf(context('stage'), readSettings())

addStacks(app, stage, region ?? US_EAST_1)
Validations.of(app).addPlugins(new AwsSolutionsChecks(app))
