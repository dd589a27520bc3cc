import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { freePort } from '../../local/dynamodb-local.ts'
import type { Cores } from '../around/cores.ts'
import { sendOne, type Target } from '../around/load.ts'
import type { MeasuredProcess } from '../around/measured-process.ts'
import { startGateway } from '../around/warm-up.ts'

/** Another gateway in Node, for comparison. It has no limits, no bills and no rows. */
export const PORTKEY_VERSION = '1.15.2'

const PACKAGE = '@portkey-ai/gateway'
/** With a later one it answers every stream with a 500 (issue 1389 of its repository). */
const OVERRIDES = { '@hono/node-server': '1.14.1' }
const CACHE = process.env.XDG_CACHE_HOME || join(homedir(), '.cache')
const FOLDER = join(CACHE, 'waybill-bench', `portkey-${PORTKEY_VERSION}`)
const PROGRAM = join(FOLDER, 'node_modules', PACKAGE, 'build', 'start-server.js')
const STARTS_WITHIN_MS = 20_000

export type Portkey = { readonly process: MeasuredProcess; readonly target: Target }

/** It is no dependency of the project: npm puts it into the user's cache folder the first time. */
export async function startPortkey(cores: Cores, upstreamUrl: string): Promise<Portkey> {
  if (!existsSync(PROGRAM)) await install()
  const port = await freePort()
  const process = startGateway(cores, [PROGRAM, `--port=${port}`, '--headless'])
  const origin = `http://127.0.0.1:${port}`
  const headers = {
    Authorization: 'Bearer none',
    'x-portkey-provider': 'openai',
    'x-portkey-custom-host': upstreamUrl,
  }
  const target = { url: `${origin}/v1`, headers }
  try {
    await untilAnswers(origin, process)
    for (const stream of [false, true]) await sendOne(target, { model: 'one-chunk', stream })
  } catch (error) {
    await process[Symbol.asyncDispose]()
    throw error
  }
  return { process, target }
}

async function install(): Promise<void> {
  mkdirSync(FOLDER, { recursive: true })
  writeFileSync(join(FOLDER, 'package.json'), JSON.stringify({ private: true, overrides: OVERRIDES }))
  const args = ['install', '--prefix', FOLDER, '--no-audit', '--no-fund', '--ignore-scripts']
  await promisify(execFile)('npm', [...args, `${PACKAGE}@${PORTKEY_VERSION}`], {
    cwd: FOLDER,
    timeout: 120_000,
  })
}

async function untilAnswers(origin: string, { child }: MeasuredProcess): Promise<void> {
  for (const start = Date.now(); Date.now() - start < STARTS_WITHIN_MS; await sleep(50)) {
    if (child.exitCode !== null) throw new Error(`it ended with code ${child.exitCode}`)
    if (
      await fetch(origin).then(
        ({ ok }) => ok,
        () => false,
      )
    )
      return
  }
  throw new Error(`it did not answer within ${STARTS_WITHIN_MS / 1000} s`)
}
