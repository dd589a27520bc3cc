// Plain JavaScript of any age: an older Node reads it, too.
const { existsSync } = require('node:fs')
const { join } = require('node:path')
const [least] = require('./package.json').devDependencies.node.split('.')

const has = (name) => existsSync(join(__dirname, name))
/** A package has what is built, and no sources. */
const isPackage = has('dist/package') && !has('cli')
const isOld = Number(process.versions.node.split('.')[0]) < Number(least)

function complaint() {
  if (!isPackage && !has('node_modules')) return "The packages are not installed. Run 'npm ci' first."
  if (!isOld) return undefined
  const brought =
    "'npm ci' brings it along for 'npm start' and 'npm run …', unless it is told to run no scripts; or install"
  return `Waybill needs Node ${least}, and this is ${process.version}. ${isPackage ? `Run 'npx -p node@${least} -p waybill waybill', or install` : brought} it, for example with 'nvm install ${least}'.`
}

module.exports = { isPackage, complaint }
