import { thisTerminal } from '../layers/terminal/terminal.ts'
import { main } from './main.ts'

// CommonJS, which the bundle is, has no await here.
main(process.argv.slice(2), thisTerminal()).then((code) => {
  process.exitCode = code
})
