import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { BIN, cdkEnvironment, ROOT } from '../../support/cdk-environment.ts'
import type { Combination } from './combinations.ts'
import type { Template } from './template.ts'

export type DeployedStack = { readonly name: string; readonly region: string; readonly template: Template['json'] }

/** The stacks of each combination. */
export async function stacksOf(combinations: readonly Combination[]): Promise<DeployedStack[][]> {
  const folder = mkdtempSync(join(tmpdir(), 'waybill-combinations-'))
  try {
    writeFileSync(join(folder, 'asked.json'), JSON.stringify(combinations))
    const script = join(ROOT, 'test', 'infra', 'support', 'synthesize-combinations.ts')
    await promisify(execFile)(join(BIN, 'node'), [script, folder], { cwd: ROOT, env: cdkEnvironment(folder) })
    return combinations.map((_, index) => JSON.parse(readFileSync(join(folder, `${index}.json`), 'utf8')))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
