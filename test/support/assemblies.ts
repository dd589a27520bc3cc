import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BIN, cdkEnvironment, ROOT } from './cdk-environment.ts'
import { until } from './wait.ts'

/** The deployments that the tests look at; `synthesize-all.ts` says what each is. */
export type Variant = 'dev' | 'prod' | 'bare' | 'mailed' | 'forgetful' | 'lost'

/** The real command, with no account, no network and nobody's settings. */
export async function cdkSynth(out: string, args: readonly string[]): Promise<Ended> {
  return ended(join(BIN, 'cdk'), ['synth', '--quiet', '--no-notices', '-o', out, ...args], out)
}

export type Ended = { readonly error: string | null; readonly output: string }

/** In `npm test` one process makes all of them; `npm run test:rest` has the tests of the command. */
const IS_QUICK = process.env.TEST_SET === 'guard'

/**
 * The folder with the cloud assembly of each variant. The command makes dev; the CDK loads slowly, so one process makes
 * all others. Both run at once, as two pipelines may, once in a run, when the first test asks.
 */
export async function assemblies(): Promise<string> {
  process.env.TEST_ASSEMBLIES ??= mkdtempSync(join(tmpdir(), 'waybill-assemblies-'))
  const folder = process.env.TEST_ASSEMBLIES
  if (isFirst(folder)) void synthesizeAll(folder)
  await until(() => existsSync(resultIn(folder)), 420_000)
  const made = Object.entries<Ended>(JSON.parse(readFileSync(resultIn(folder), 'utf8')))
  for (const [by, { error, output }] of made) if (error) throw new Error(`${by}: ${error}\n${output}`)
  return folder
}

/** The words of the command that made dev. */
export async function saidOfDev(): Promise<string> {
  return JSON.parse(readFileSync(resultIn(await assemblies()), 'utf8')).command.output
}

const resultIn = (folder: string) => join(folder, 'result.json')

function isFirst(folder: string): boolean {
  try {
    mkdirSync(join(folder, 'begun'))
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return false
  }
}

async function synthesizeAll(folder: string): Promise<void> {
  const script = join(ROOT, 'test', 'infra', 'support', 'synthesize-all.ts')
  const [command, program] = await Promise.all([
    IS_QUICK ? { error: null, output: '' } : cdkSynth(join(folder, 'dev'), ['-c', 'stage=dev']),
    ended(join(BIN, 'node'), [script, folder, ...(IS_QUICK ? ['quick'] : [])], folder),
  ])
  const draft = join(folder, 'draft.json')
  writeFileSync(draft, JSON.stringify({ command, program }))
  renameSync(draft, resultIn(folder))
}

function ended(program: string, args: readonly string[], home: string): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(program, args, { cwd: ROOT, env: cdkEnvironment(home) }, (error, stdout, stderr) =>
      resolve({ error: error?.message ?? null, output: stdout + stderr }),
    )
  })
}
