import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { shellWord } from '../../layers/gateway/domain/basics/shell-word.ts'
import { IS_PACKAGE } from '../../layers/terminal/how-to-run.ts'
import { preflight } from '../preflight/preflight.ts'
import { cdkOnAccount, deployStage, type RunCdk } from './deploy-stage.ts'

const { resolve } = createRequire(import.meta.url)
const CDK = resolve('aws-cdk/bin/cdk')
/** npm and pnpm install them with the package, others do not. */
export const PEERS = ['aws-cdk-lib', 'constructs']

/** A clone has cdk.json in its own folder. A package is run in its operator's, and knows where its app is. */
const PLACE = IS_PACKAGE ? {} : { cwd: fileURLToPath(new URL('../..', import.meta.url)) }
const APP = IS_PACKAGE ? ['--app', appIn(fileURLToPath(new URL('app.js', import.meta.url)))] : []

/** A shell runs it. The word at the end is for `cdk`, which takes away quotes that stand at both ends. */
function appIn(file: string): string {
  const word = process.platform === 'win32' ? (path: string) => `"${path}"` : shellWord
  return `${word(process.execPath)} ${word(file)} --`
}

function requirePeers(): void {
  try {
    for (const peer of PEERS) resolve(peer)
  } catch {
    throw new Error(
      `The CDK is not installed here. Add it beside waybill, for example with 'yarn add ${PEERS.join(' ')}'.`,
    )
  }
}

const runCdk: RunCdk = async (args) => {
  requirePeers()
  const cdk = spawn(process.execPath, [CDK, ...args, ...APP], { ...PLACE, stdio: 'inherit' })
  // The terminal interrupts both; cdk reports its progress.
  process.on('SIGINT', () => {})
  return new Promise((end, fail) => {
    cdk.once('error', fail)
    cdk.once('close', (code) => end(code ?? 1))
  })
}

/** `cdk` knows a stage as a value of the context. */
function forCdk(args: readonly string[]): string[] {
  return args.flatMap((arg, i) => {
    if (arg === '--stage') return ['-c', `stage=${args[i + 1]}`]
    if (args[i - 1] === '--stage') return []
    return arg.startsWith('--stage=') ? ['-c', arg.slice(2)] : [arg]
  })
}

export async function runInfra(args: readonly string[]): Promise<number> {
  const [command, ...rest] = args
  if (command === 'preflight') return preflight(rest, console)
  return command === 'deploy' ? deployStage(forCdk(rest), console, runCdk) : cdkOnAccount(forCdk(args), console, runCdk)
}
