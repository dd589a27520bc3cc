import { App, Validations } from 'aws-cdk-lib'
import { AwsSolutionsChecks } from 'cdk-nag'
import cdk from '../cdk.json' with { type: 'json' }
import { IS_PACKAGE } from '../operator/terminal/how-to-run.ts'
import { checkRegion } from './preflight/check-region.ts'
import { readSettings, refuseFlags } from './settings.ts'
import { addStacks } from './stacks.ts'
import { stageOf, US_EAST_1 } from './stages.ts'

// A clone's cdk.json is read by `cdk`.
const app = new App(IS_PACKAGE ? { context: cdk.context } : {})
const context = (name: string): unknown => app.node.tryGetContext(name)
refuseFlags(context)
// The region to which the command will deploy.
const { CDK_DEFAULT_REGION: region } = process.env
checkRegion(region)
const stage = stageOf(context('stage'), readSettings())

addStacks(app, stage, region ?? US_EAST_1)
Validations.of(app).addPlugins(new AwsSolutionsChecks(app))
