import { type Installed, installPackage } from '../../clients/support/install-package.ts'

const NAME = 'aws-lambda-ric'
const VERSION = '4.0.2'

/** AWS's own runtime client, the code between Lambda and a handler. It is compiled where it is installed, which takes a minute. */
export async function installRuntimeClient(): Promise<Installed> {
  if (process.platform !== 'linux') return { missing: `${NAME} builds on Linux only, not on ${process.platform}` }
  return installPackage({
    name: NAME,
    version: VERSION,
    cache: `waybill-ric-${VERSION}`,
    file: `${NAME}/index.mjs`,
    check: ['test', '-f', `${NAME}/rapid-client.node`],
    tools: ['c++', 'make', 'cmake', 'python3'],
  })
}
