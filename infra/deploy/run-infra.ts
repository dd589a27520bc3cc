import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { shellWord } from '../../layers/gateway/domain/basics/shell-word.ts'
import { IS_PACKAGE } from '../../layers/terminal/how-to-run.ts'
import { preflight } from '../preflight/preflight.ts'
import { cdkOnAccount, deployStage, type RunCdk } from './deploy-stage.ts'

const { resolve } = createRequire(import.meta.url)
/** They are ten times as large as all the rest, and only a deployment needs them. */
export const PEERS = ['aws-cdk', 'aws-cdk-lib', 'constructs']

/** A clone has cdk.json in its own folder. A package is run in its operator's, and knows where its app is. */
const PLACE = IS_PACKAGE ? {} : { cwd: fileURLToPath(new URL('../..', import.meta.url)) }
const APP = IS_PACKAGE ? ['--app', appIn(fileURLToPath(new URL('app.js', import.meta.url)))] : []

/** A shell runs it. The word at the end is for `cdk`, which takes away quotes that stand at both ends. */
function appIn(file: string): string {
  const word = process.platform === 'win32' ? (path: string) => `"${path}"` : shellWord
  return `${word(process.execPath)} ${word(file)} --`
}

function findCdk(): string {
  try {
    for (const peer of PEERS) resolve(`${peer}/package.json`)
    return resolve('aws-cdk/bin/cdk')
  } catch {
    const install = `npm install waybill ${PEERS.join(' ')}`
    throw new Error(`A deployment needs the CDK, which is not installed here. Run '${install}' in this folder.`)
  }
}

const runCdk: RunCdk = async (args) => {
  const cdk = spawn(process.execPath, [findCdk(), ...args, ...APP], { ...PLACE, stdio: 'inherit' })
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
