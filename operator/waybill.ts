import { main } from './main.ts'
import { thisTerminal } from './terminal/terminal.ts'

// CommonJS, which the bundle is, has no await here.
main(process.argv.slice(2), thisTerminal()).then((code) => {
  process.exitCode = code
})
