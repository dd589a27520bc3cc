// Loaded before the first file of TypeScript (node -r), which an older Node cannot read: plain JavaScript of any age.
const { existsSync } = require('node:fs')
const { join } = require('node:path')
const [least] = require('./package.json').dependencies.node.split('.')

const has = (name) => existsSync(join(__dirname, name))
/** A package has what is built, and no sources. */
const isPackage = has('dist/package') && !has('operator')
module.exports = { isPackage }

function complaint() {
  if (!isPackage && !has('node_modules')) return "The packages are not installed. Run 'npm ci' first."
  if (Number(process.versions.node.split('.')[0]) >= Number(least)) return undefined
  const brought = isPackage
    ? "The package 'node' brings it along for 'npx waybill', if npm may run its install script"
    : "'npm ci' brings it along for 'npm start' and 'npm run …', unless it is told to run no scripts"
  return `Waybill needs Node ${least}, and this is ${process.version}. ${brought}; or install it, for example with 'nvm install ${least}'.`
}

const said = complaint()
if (said !== undefined) {
  process.stderr.write(`${said}\n`)
  process.exit(1)
}

// Compiled code is kept for the next start.
require('node:module').enableCompileCache?.(join(__dirname, 'node_modules', '.cache', 'waybill'))
