import { spawn } from 'node:child_process'
import { styleText } from 'node:util'
import { PROGRAMS } from './programs.ts'

export type Check = {
  readonly name: string
  /** A script of package.json. */
  readonly script: string
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** The line of its output that says the most. */
  readonly result?: RegExp
}

export const TESTS = /^Tests: .*$/m
export const HISTORIES = /^[\d,]+ histories .*$/m

type Outcome = Check & { readonly passed: boolean; readonly seconds: number; readonly heard: string }

/**
 * Runs all of them, whatever fails, and prints one summary at the end. Quiet ones run beside the first, and are heard
 * only if they fail.
 */
export async function runChecks(checks: readonly Check[], quiet: readonly Check[] = []): Promise<void> {
  const beside = Promise.all(quiet.map((check) => run(check, () => {})))
  const outcomes: Outcome[] = []
  for (const check of checks) outcomes.push(await run(check, (chunk) => process.stdout.write(chunk)))
  for (const outcome of await beside) {
    if (!outcome.passed) console.log(`\n${outcome.name}:\n${outcome.heard}`)
    outcomes.push(outcome)
  }
  console.log(`\n${outcomes.map(lineOf).join('\n')}`)
  for (const { name, tests } of PROGRAMS.filter(({ isHere }) => !isHere())) {
    console.log(`skipped     ${name} is not installed here, so these were left out: ${tests}`)
  }
  process.exitCode = outcomes.every(({ passed }) => passed) ? 0 : 1
}

function run(check: Check, show: (chunk: Buffer) => void): Promise<Outcome> {
  const startMs = performance.now()
  const { script, args = [], env = {} } = check
  const child = spawn('npm', ['run', '-s', script, '--', ...args], {
    env: { ...process.env, ...env },
    stdio: ['inherit', 'pipe', 'pipe'],
  })
  let heard = ''
  for (const output of [child.stdout, child.stderr]) {
    output.on('data', (chunk: Buffer) => {
      heard = (heard + chunk.toString()).slice(-20_000)
      show(chunk)
    })
  }
  return new Promise((resolve) => {
    const end = (code: number | null) =>
      resolve({ ...check, passed: code === 0, seconds: (performance.now() - startMs) / 1000, heard })
    child.once('error', () => end(1))
    child.once('close', end)
  })
}

function lineOf({ name, passed, seconds, result, heard }: Outcome): string {
  const verdict = passed ? 'ok    ' : process.stdout.isTTY ? styleText('red', 'FAILED') : 'FAILED'
  const said = result?.exec(heard)?.[0] ?? ''
  const short = said.length > 110 ? `${said.slice(0, 109)}…` : said
  return `${name.padEnd(10)}  ${verdict}  ${seconds.toFixed(0).padStart(4)} s  ${short}`.trimEnd()
}
