import { spawn } from 'node:child_process'
import { styleText } from 'node:util'
import { PROGRAMS } from './programs.ts'

export type Check = {
  readonly name: string
  /** Of package.json. */
  readonly script: string
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** The line of its output that says the most. */
  readonly result?: RegExp
}

export const TESTS = /^Tests: .*$/m
export const HISTORIES = /^[\d,]+ histories .*$/m

type Outcome = Check & { readonly passed: boolean; readonly seconds: number; readonly said: string }

/** Runs all of them, whatever fails, and prints one summary at the end. */
export async function runChecks(checks: readonly Check[]): Promise<void> {
  const outcomes: Outcome[] = []
  for (const check of checks) outcomes.push(await run(check))
  console.log(`\n${outcomes.map(lineOf).join('\n')}`)
  for (const { name, tests } of PROGRAMS.filter(({ isHere }) => !isHere())) {
    console.log(`skipped     ${name} is not installed here, so these were left out: ${tests}`)
  }
  process.exitCode = outcomes.every(({ passed }) => passed) ? 0 : 1
}

function run(check: Check): Promise<Outcome> {
  const startMs = performance.now()
  const { script, args = [], env = {}, result } = check
  const child = spawn('npm', ['run', '-s', script, '--', ...args], {
    env: { ...process.env, ...env },
    stdio: result ? ['inherit', 'pipe', 'pipe'] : 'inherit',
  })
  let heard = ''
  for (const [from, to] of [
    [child.stdout, process.stdout],
    [child.stderr, process.stderr],
  ] as const) {
    from?.on('data', (chunk: Buffer) => {
      heard = (heard + chunk.toString()).slice(-20_000)
      to.write(chunk)
    })
  }
  return new Promise((resolve) => {
    const end = (code: number | null) => {
      const said = result?.exec(heard)?.[0] ?? ''
      resolve({ ...check, passed: code === 0, seconds: (performance.now() - startMs) / 1000, said })
    }
    child.once('error', () => end(1))
    child.once('close', end)
  })
}

function lineOf({ name, passed, seconds, said }: Outcome): string {
  const verdict = passed ? 'ok    ' : process.stdout.isTTY ? styleText('red', 'FAILED') : 'FAILED'
  const short = said.length > 110 ? `${said.slice(0, 109)}…` : said
  return `${name.padEnd(10)}  ${verdict}  ${seconds.toFixed(0).padStart(4)} s  ${short}`.trimEnd()
}
