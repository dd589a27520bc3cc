import { spawn } from 'node:child_process'
import { cdkOnAccount, deployStage, type RunCdk } from './deploy-stage.ts'

const runCdk: RunCdk = (args) => {
  const cdk = spawn('cdk', args, { stdio: 'inherit' })
  // The terminal interrupts both; cdk reports its progress.
  process.on('SIGINT', () => {})
  return new Promise((resolve, reject) => {
    cdk.once('error', () => reject(new Error("There is no 'cdk' here: run 'npm ci', and this by 'npm run'.")))
    cdk.once('close', (code) => resolve(code ?? 1))
  })
}

const [command, ...rest] = process.argv.slice(2)
process.exitCode =
  command === 'deploy'
    ? await deployStage(rest, console, runCdk)
    : await cdkOnAccount(process.argv.slice(2), console, runCdk)
