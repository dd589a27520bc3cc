import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { IS_PACKAGE } from '../../operator/terminal/how-to-run.ts'
import { preflight } from '../preflight/preflight.ts'
import { cdkOnAccount, deployStage, type RunCdk } from './deploy-stage.ts'

/** A clone has cdk.json, and npm's scripts have `cdk` in their path. A package knows where both are. */
function programOf(args: readonly string[]): readonly [string, string[]] {
  if (!IS_PACKAGE) return ['cdk', [...args]]
  const cdk = createRequire(import.meta.url).resolve('aws-cdk/bin/cdk')
  const app = fileURLToPath(new URL('app.js', import.meta.url))
  return [process.execPath, [cdk, ...args, '--app', `"${process.execPath}" "${app}"`]]
}

const runCdk: RunCdk = (args) => {
  const [program, given] = programOf(args)
  const cdk = spawn(program, given, { stdio: 'inherit' })
  // The terminal interrupts both; cdk reports its progress.
  process.on('SIGINT', () => {})
  return new Promise((resolve, reject) => {
    cdk.once('error', () => reject(new Error("There is no 'cdk' here: run 'npm ci', and this by 'npm run'.")))
    cdk.once('close', (code) => resolve(code ?? 1))
  })
}

/** Runs `deploy`, or another command of CDK, or `preflight`, and returns the exit code. */
export async function runInfra(args: readonly string[]): Promise<number> {
  const [command, ...rest] = args
  if (command === 'preflight') return preflight(rest, console)
  return command === 'deploy' ? deployStage(rest, console, runCdk) : cdkOnAccount(args, console, runCdk)
}
