import { spawn } from 'node:child_process'
import { deployStage } from './deploy-stage.ts'

process.exitCode = await deployStage(process.argv.slice(2), console, (args) => {
  const cdk = spawn('cdk', args, { stdio: 'inherit' })
  // The terminal interrupts both; cdk says how far it came.
  process.on('SIGINT', () => {})
  return new Promise((resolve, reject) => {
    cdk.once('error', reject)
    cdk.once('close', (code) => resolve(code ?? 1))
  })
})
