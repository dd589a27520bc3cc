import { type ChildProcess, spawn } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from '@jest/globals'
import { endLeftDatabases, noteDatabase } from '../../local/left-databases.ts'
import { emptyFolder } from '../support/processes.ts'

const PORT = 4567
const NOBODY = 2 ** 22 + 1
const started: ChildProcess[] = []

/** A process that idles with this command line. */
async function idle(...args: string[]): Promise<ChildProcess & { pid: number }> {
  const child = spawn(process.execPath, ['-e', 'console.log(1);setInterval(() => {}, 1000)', '--', ...args])
  started.push(child)
  await new Promise((resolve) => child.stdout.once('data', resolve))
  return child as ChildProcess & { pid: number }
}
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL')
})

const DATABASE = ['lib/DynamoDBLocal.jar', '-port', String(PORT)]

test('a local database is ended when its owner is gone, and its note is removed', async () => {
  const folder = emptyFolder()
  const left = await idle(...DATABASE)
  await noteDatabase(folder, left.pid, PORT, NOBODY)
  expect(await endLeftDatabases(folder)).toBe(1)
  expect(left.signalCode ?? (await new Promise((resolve) => left.once('exit', (_, signal) => resolve(signal))))).toBe(
    'SIGTERM',
  )
  expect(readdirSync(folder)).toEqual([])
})

test('a local database is left alone while its owner lives, and its note stays', async () => {
  const folder = emptyFolder()
  const owned = await idle(...DATABASE)
  await noteDatabase(folder, owned.pid, PORT)
  expect(await endLeftDatabases(folder)).toBe(0)
  expect(owned.kill(0)).toBe(true)
  expect(readdirSync(folder)).toHaveLength(1)
})

test.each<[string, string[], object]>([
  ['is another program', ['something-else', '-port', String(PORT)], {}],
  ['is a database at another port', ['lib/DynamoDBLocal.jar', '-port', '9999'], {}],
  ['started at another time', DATABASE, { startedAt: '1' }],
])('a process with the number of an earlier local database is left alone if it %s', async (_, args, change) => {
  const folder = emptyFolder()
  const stranger = await idle(...args)
  await noteDatabase(folder, stranger.pid, PORT, NOBODY)
  const [name] = readdirSync(folder)
  const file = join(folder, `${name}`)
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), ...change }))
  expect(await endLeftDatabases(folder)).toBe(0)
  expect([stranger.exitCode, stranger.signalCode]).toEqual([null, null])
  expect(readdirSync(folder)).toEqual([])
})

test.each(['', '{}', '{"pid":-1,"startedAt":"1","port":1}', '{"pid":1}', 'null'])(
  'an invalid note of a local database (%p) ends no process',
  async (note) => {
    const folder = emptyFolder()
    writeFileSync(join(folder, 'database-1.json'), note)
    expect(await endLeftDatabases(folder)).toBe(0)
    expect(readdirSync(folder)).toEqual([])
  },
)
