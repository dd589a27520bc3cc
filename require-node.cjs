// Loaded before the first file of TypeScript (node -r), which an older Node cannot read.
const { join } = require('node:path')
const { complaint } = require('./which-node.cjs')

const said = complaint()
if (said !== undefined) {
  process.stderr.write(`${said}\n`)
  process.exit(1)
}

// Compiled code is kept for the next start.
require('node:module').enableCompileCache?.(join(__dirname, 'node_modules', '.cache', 'waybill'))
