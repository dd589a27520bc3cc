import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BIN, cdkEnvironment, ROOT } from './cdk-environment.ts'
import { until } from './wait.ts'

/** The deployments that the tests look at; `synthesize-all.ts` says what each is. */
export type Variant = 'dev' | 'prod' | 'bare' | 'mailed' | 'forgetful' | 'lost'

/**
 * The folder with the cloud assembly of each variant. The CDK loads slowly in a test's own context, so one process
 * outside makes them all, once in a run, when the first test asks.
 */
export async function assemblies(): Promise<string> {
  process.env.TEST_ASSEMBLIES ??= mkdtempSync(join(tmpdir(), 'waybill-assemblies-'))
  const folder = process.env.TEST_ASSEMBLIES
  const result = join(folder, 'result.json')
  if (isFirst(folder)) synthesizeAll(folder, result)
  await until(() => existsSync(result), 170_000)
  const { error, output } = JSON.parse(readFileSync(result, 'utf8')) as { error: string | null; output: string }
  if (error) throw new Error(`${error}\n${output}`)
  return folder
}

function isFirst(folder: string): boolean {
  try {
    mkdirSync(join(folder, 'begun'))
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return false
  }
}

function synthesizeAll(folder: string, result: string): void {
  const script = join(ROOT, 'test', 'infra', 'support', 'synthesize-all.ts')
  const options = { cwd: ROOT, env: cdkEnvironment(folder) }
  execFile(join(BIN, 'node'), [script, folder], options, (error, stdout, stderr) => {
    writeFileSync(`${result}.draft`, JSON.stringify({ error: error?.message ?? null, output: stdout + stderr }))
    renameSync(`${result}.draft`, result)
  })
}
