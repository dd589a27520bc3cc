import { runInfra } from './run-infra.ts'

process.exitCode = await runInfra(process.argv.slice(2))
