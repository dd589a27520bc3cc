import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { openTestTables } from '../support/gateway.ts'
import { emptyFolder } from '../support/processes.ts'
import { openStage } from '../support/stack.ts'

const env = { XDG_CONFIG_HOME: emptyFolder() }
const waybill = (args: readonly string[], more: Record<string, string> = {}) => stage.waybill(args, { ...env, ...more })

const stage = await openStage(await openTestTables())

async function askedBy(args: readonly string[], more: Record<string, string> = {}): Promise<string | undefined> {
  stage.asked.length = 0
  await waybill(['keys', 'list', ...args], more)
  return stage.asked[0]
}

test('the option wins over WAYBILL_STAGE, and that over the stage that waybill use has kept', async () => {
  expect(await waybill(['keys', 'list'])).toMatchObject({ code: 1, stderr: expect.stringContaining('waybill use') })
  expect((await waybill(['use', 'dev'])).stdout).toContain('the stage dev')
  expect(await waybill(['keys', 'list'])).toMatchObject({ code: 0, stderr: '' })
  expect(await askedBy([])).toBe('Waybill-dev')
  expect(await askedBy([], { WAYBILL_STAGE: 'test' })).toBe('Waybill-test')
  expect(await askedBy(['--stage', 'prod'], { WAYBILL_STAGE: 'test' })).toBe('Waybill-prod')
  expect(await askedBy(['--local'])).toBe(undefined)
  expect(await askedBy([], { WAYBILL_ADMIN_URL: 'http://127.0.0.1:1' })).toBe(undefined)
  expect(await askedBy(['--stage', 'prod'], { WAYBILL_ADMIN_URL: 'http://127.0.0.1:1' })).toBe('Waybill-prod')
  expect(await askedBy(['--stack', 'Assistant'], { WAYBILL_STAGE: 'test' })).toBe('Assistant')
})

test('waybill use tells, chooses the local gateway, and forgets', async () => {
  const told = async (...args: string[]) => JSON.parse((await waybill(['use', ...args, '--json'])).stdout)
  const file = join(env.XDG_CONFIG_HOME, 'waybill', 'gateway.json')
  expect(await told('prod')).toEqual({ stage: 'prod', stack: null, local: false, by: file })
  const { stdout } = await waybill(['use', '--json'], { WAYBILL_STAGE: 'test' })
  expect(JSON.parse(stdout)).toEqual({ stage: 'test', stack: null, local: false, by: 'WAYBILL_STAGE' })
  expect(await told('--local')).toEqual({ stage: null, stack: null, local: true, by: file })
  expect((await waybill(['keys', 'list'])).stderr).toContain('No local gateway is running here')
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ local: true })
  expect(await told('--none')).toEqual({ stage: null, stack: null, local: false, by: null })
  expect((await waybill(['use'])).stdout).toContain('No gateway is chosen')
})

test('a gateway in a stack of any name is found by --stack, and is called what the stack calls it', async () => {
  const theirs = await openStage(await openTestTables(), undefined, 'prod', { stackName: 'Assistant' })
  const ofTheirs = (...args: string[]) => theirs.waybill(args, env)
  expect((await ofTheirs('use', '--stack', 'Assistant')).stdout).toContain('the gateway in the stack Assistant')
  expect(await ofTheirs('keys', 'list')).toMatchObject({ code: 0, stderr: '' })
  expect((await ofTheirs('keys', 'create', '--name', 'a')).stderr).toContain('This changes the stage prod')
  expect((await ofTheirs('keys', 'list', '--stack', 'Other')).stderr).toContain('There is no stack Other')
  expect((await ofTheirs('use', '--stack', 'a b')).stderr).toContain('not the name of a stack')
  for (const other of [['--stage', 'dev'], ['--local']]) {
    expect((await ofTheirs('keys', 'list', '--stack', 'Assistant', ...other)).stderr).toContain('Choose one of')
  }
  await ofTheirs('use', '--none')
})

test('waybill use refuses two gateways, a name that no stage has, and a damaged file', async () => {
  expect((await waybill(['use', 'prod', '--local'])).stderr).toContain('Choose one of')
  expect((await waybill(['use', 'a b'])).stderr).toContain('not the name of a stage')
  await waybill(['use', 'dev'])
  const file = join(env.XDG_CONFIG_HOME, 'waybill', 'gateway.json')
  writeFileSync(file, '{}')
  const { code, stderr } = await waybill(['keys', 'list'])
  expect([code, stderr]).toEqual([1, expect.stringContaining('names no gateway')])
  await waybill(['use', '--none'])
})

test('a protected stage that was chosen still asks', async () => {
  stage.outputs = { ...stage.outputs, Protected: 'true' }
  await waybill(['use', 'dev'])
  const { code, stderr } = await waybill(['keys', 'create', '--name', 'x'])
  expect([code, stderr]).toEqual([1, expect.stringContaining('This changes the stage dev')])
  await waybill(['use', '--none'])
})
