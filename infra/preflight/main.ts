import { preflight } from './preflight.ts'

process.exitCode = await preflight(process.argv.slice(2), console)
