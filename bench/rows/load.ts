import { execFileSync } from 'node:child_process'
import { lambdaEnvironment } from '../../test/deployed/support/lambda-environment.ts'
import { type Row, withSpread } from '../figures.ts'
import type { Stand } from '../stand.ts'
import { bundleOfChat, deployedAs, folderWith } from '../waybill.ts'

const RUNS = 15
const NOTHING = 'exports.handler = async () => ({ statusCode: 200 })'
const LOAD = `globalThis.awslambda = { streamifyResponse: (handler) => handler }
const startMs = performance.now()
require('./index.js')
console.log(performance.now() - startMs)
process.exit()`

/** The time in which fresh processes load the code of chat, in turns with a function that does nothing. */
export async function load(stand: Stand): Promise<{ rows: Row[] }> {
  using bundles = new DisposableStack()
  const folders = { bareProxy: folderWith(NOTHING, bundles), waybill: bundleOfChat(bundles) }
  const found = { bareProxy: [] as number[], waybill: [] as number[] }
  const [command = '', ...args] = stand.onOwnCore([process.execPath, '-e', LOAD])
  stand.say('load')
  // The first round fills the caches of the disk, and is not counted.
  for (let round = 0; round <= RUNS; round++) {
    for (const name of ['bareProxy', 'waybill'] as const) {
      const env = { ...lambdaEnvironment(deployedAs(folders[name]), 'http://127.0.0.1:1'), PATH: process.env.PATH }
      const told = execFileSync(command, args, { cwd: folders[name], env, encoding: 'utf8' })
      if (round > 0) found[name].push(Number(told))
    }
  }
  const [waybill, bareProxy] = [withSpread(found.waybill, 'ms'), withSpread(found.bareProxy, 'ms')]
  return {
    rows: [{ what: 'a cold start: loading the code, beside that of a function that does nothing', waybill, bareProxy }],
  }
}
