import { cdkOnAccount } from './deploy-stage.ts'
import { runCdk } from './run-cdk.ts'

process.exitCode = await cdkOnAccount(process.argv.slice(2), console, runCdk)
