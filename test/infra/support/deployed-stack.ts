import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { App } from 'aws-cdk-lib'
import { parseSettings } from '../../../infra/settings.ts'
import { WaybillStack } from '../../../infra/stack.ts'
import { type Combination, settingsOf } from './combinations.ts'
import type { Template } from './template.ts'

export type DeployedStack = { readonly name: string; readonly region: string; readonly template: Template['json'] }

// Assets stay where they were bundled.
const context = { 'aws:cdk:disable-asset-staging': true }

/** The stacks of a combination, with a catalog of its own and more settings, if they are given. */
export function stacksOf(combination: Combination, catalog?: string, more: object = {}): DeployedStack[] {
  const { stage, region } = combination
  const given = parseSettings(JSON.stringify({ [stage]: { ...settingsOf(combination), ...more } }), 'settings.json')
  const outdir = mkdtempSync(join(tmpdir(), 'waybill-combination-'))
  process.env.CDK_DEFAULT_REGION = region
  try {
    const app = new App({ outdir, context, treeMetadata: false, analyticsReporting: false })
    new WaybillStack(app, { stage, catalog, ...given[stage] })
    return app.synth().stacks.map(({ stackName, environment, template }) => ({
      name: stackName,
      // The main stack goes to the region of the command.
      region: environment.region === 'unknown-region' ? region : environment.region,
      template,
    }))
  } finally {
    rmSync(outdir, { recursive: true, force: true })
  }
}
