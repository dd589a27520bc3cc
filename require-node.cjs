// Loaded before the first file of TypeScript (node -r), which an older Node cannot read: plain JavaScript of any age.
const { existsSync } = require('node:fs')
const { join } = require('node:path')
const [least] = require('./package.json').dependencies.node.split('.')

function complaint() {
  if (!existsSync(join(__dirname, 'node_modules'))) return "The packages are not installed. Run 'npm ci' first."
  if (Number(process.versions.node.split('.')[0]) >= Number(least)) return undefined
  return `Waybill needs Node ${least}, and this is ${process.version}. 'npm ci' brings it along for 'npm start' and 'npm run …', unless it is told to run no scripts; or install it, for example with 'nvm install ${least}'.`
}

const said = complaint()
if (said !== undefined) {
  process.stderr.write(`${said}\n`)
  process.exit(1)
}

// Compiled code is kept for the next start.
require('node:module').enableCompileCache?.(join(__dirname, 'node_modules', '.cache', 'waybill'))
