import { runGateway } from './run-gateway.ts'

await runGateway(process.argv.slice(2))
