import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { StageName } from '../../../infra/props.ts'
import { BIN, cdkEnvironment, ROOT } from '../../support/cdk-environment.ts'
import type { Template } from './template.ts'

export type StackFacts = {
  readonly name: string
  /** Its account and region. */
  readonly place: string
  /** The stacks that are deployed before it. */
  readonly after: readonly string[]
  readonly template: Template['json']
}

/** Apps of others that have the construct; `synthesize-apps.ts` says what each is. */
export type AppFacts = Readonly<
  Record<
    'theirs' | 'ours' | 'named' | 'abroad' | 'inStages' | 'withParameters' | 'undefinedProps',
    readonly StackFacts[]
  >
> & {
  /** Our own stacks as they come, and the files of a release for those without CDK. */
  readonly plain: Readonly<Record<StageName, StackFacts['template']>>
  readonly release: Readonly<Record<string, string>>
  readonly findings: readonly string[]
  readonly attributes: Readonly<Record<'all' | 'bare', Readonly<Record<string, unknown>>>>
  readonly refused: Readonly<Record<string, string | null>>
}

export async function makeApps(): Promise<AppFacts> {
  const folder = mkdtempSync(join(tmpdir(), 'waybill-apps-'))
  try {
    const script = join(ROOT, 'test', 'infra', 'support', 'synthesize-apps.ts')
    await promisify(execFile)(join(BIN, 'node'), [script, folder], { cwd: ROOT, env: cdkEnvironment(folder) })
    return JSON.parse(readFileSync(join(folder, 'facts.json'), 'utf8'))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
