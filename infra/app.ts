import { App, Validations } from 'aws-cdk-lib'
import cdk from '../cdk.json' with { type: 'json' }
import { IS_PACKAGE } from '../layers/terminal/how-to-run.ts'
import { readSettings, refuseFlags } from './settings.ts'
import { WaybillStack } from './stack.ts'
import { checkedStageName } from './stages.ts'

// A clone's cdk.json is read by `cdk`.
const app = new App(IS_PACKAGE ? { context: cdk.context } : {})
const context = (name: string): unknown => app.node.tryGetContext(name)
refuseFlags(context)
const stage = checkedStageName(context('stage'))

new WaybillStack(app, { stage, ...readSettings()[stage] })
if (!IS_PACKAGE) {
  // The stack of a package is the same, and was checked when it was made.
  const { AwsSolutionsChecks } = await import('cdk-nag')
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app))
}
