// Plain JavaScript of any age: an older Node reads it, too.
const { existsSync } = require('node:fs')
const { dirname, join } = require('node:path')
const [least] = require('./package.json').dependencies.node.split('.')

const has = (name) => existsSync(join(__dirname, name))
/** A package has what is built, and no sources. */
const isPackage = has('dist/package') && !has('cli')
const isOld = Number(process.versions.node.split('.')[0]) < Number(least)

/** The Node that the package `node` brings along, if its install script was run. */
function broughtNode() {
  try {
    const folder = join(dirname(require.resolve('node/package.json')), 'bin')
    return ['node', 'node.exe'].map((name) => join(folder, name)).find(existsSync)
  } catch {
    return undefined
  }
}

function complaint() {
  if (!isPackage && !has('node_modules')) return "The packages are not installed. Run 'npm ci' first."
  if (!isOld) return undefined
  const brought = isPackage
    ? "The package 'node' brings it along once its install script has run ('npm install-scripts approve node && npm rebuild node', or 'pnpm approve-builds')"
    : "'npm ci' brings it along for 'npm start' and 'npm run …', unless it is told to run no scripts"
  return `Waybill needs Node ${least}, and this is ${process.version}. ${brought}; or install it, for example with 'nvm install ${least}'.`
}

module.exports = { isPackage, isOld, broughtNode, complaint }
