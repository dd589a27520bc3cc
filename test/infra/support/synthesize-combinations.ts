import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { App } from 'aws-cdk-lib'
import { parseSettings } from '../../../infra/settings.ts'
import { WaybillStack } from '../../../infra/stack.ts'
import { checkedStageName } from '../../../infra/stages.ts'
import { type Combination, settingsOf } from './combinations.ts'
import type { DeployedStack } from './deployed-stack.ts'

// A process of its own, which loads the CDK once. It reads from a folder which combinations are asked for, and writes
// the stacks of each into it.
const [folder = ''] = process.argv.slice(2)
const asked: Combination[] = JSON.parse(readFileSync(join(folder, 'asked.json'), 'utf8'))
// Assets stay where they were bundled.
const context = { 'aws:cdk:disable-asset-staging': true }

asked.forEach((combination, index) => {
  const given = parseSettings(JSON.stringify({ [combination.stage]: settingsOf(combination) }), 'settings.json')
  const app = new App({ outdir: join(folder, String(index)), context, treeMetadata: false, analyticsReporting: false })
  process.env.CDK_DEFAULT_REGION = combination.region
  const stage = checkedStageName(combination.stage)
  new WaybillStack(app, { stage, ...given[stage] })
  const stacks = app.synth().stacks.map(
    ({ stackName, environment: { region }, template }): DeployedStack => ({
      name: stackName,
      // The main stack goes to the region of the command.
      region: region === 'unknown-region' ? combination.region : region,
      template,
    }),
  )
  writeFileSync(join(folder, `${index}.json`), JSON.stringify(stacks))
})
