import { main } from './main.ts'
import { thisTerminal } from './terminal/terminal.ts'

process.exitCode = await main(process.argv.slice(2), thisTerminal())
