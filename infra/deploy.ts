import { deployStage } from './deploy-stage.ts'
import { runCdk } from './run-cdk.ts'

process.exitCode = await deployStage(process.argv.slice(2), console, runCdk)
