import { expect, test } from '@jest/globals'
import { emptyFolder, run } from '../support/processes.ts'

const simulate = (...args: string[]) => run('test/simulation/simulate.ts', args, emptyFolder()).ended

// `npm test` runs 5,000 beside this, and `npm run test:long` 20,000.
test('the simulator finds no lost or invented credit in 200 histories, and says how many it ran', async () => {
  const { code, stdout, stderr } = await simulate('--seed', '500000', '--histories', '200')
  expect(stderr).toBe('')
  expect(stdout).toMatch(/^200 histories from seed 500000: .* 0 nanocredits lost/)
  expect(code).toBe(0)
}, 60_000)

// One of each kind: a condition left out, an update that writes something else, another order, a wrong count. `npm run
// test:long` has all of them; some need hundreds of histories to be found.
test('the simulator catches faults that are built into the gateway on purpose', async () => {
  const faults = [
    'a request settles twice',
    'no sweep is told of a hold',
    'the money moves before the row is written',
    'half of an answer is charged',
  ]
  const { code, stdout } = await simulate('--histories', '100', ...faults.flatMap((fault) => ['--broken', fault]))
  const caught = Array.from(stdout.matchAll(/^caught: (.+?) \(Seed /gm), ([, fault]) => fault)
  expect(caught.sort()).toEqual(faults.sort())
  expect(code).toBe(0)
}, 60_000)

test('the simulator fails if a fault that was built in is not caught', async () => {
  const late = 'a secret is not asked whether its grace is over'
  const { code, stdout } = await simulate(
    '--histories',
    '2',
    '--broken',
    late,
    '--broken',
    'half of an answer is charged',
  )
  expect(stdout).toContain(`MISSED: ${late}`)
  expect(code).toBe(1)
}, 60_000)

test('the simulator prints a short history that breaks and how to see it again, the same on every run', async () => {
  const broken = ['--workers', '1', '--broken', 'the hold is not checked']
  const [one, other] = await Promise.all([simulate(...broken), simulate(...broken)])
  const [, seed] = /^Seed (\d+): .* available$/m.exec(one.stderr) ?? []
  expect(one.stderr).toContain(`Again: npm run simulate -- --seed ${seed} --histories 1`)
  const [, length] = /breaks \((\d+) of \d+ steps/.exec(one.stderr) ?? []
  expect(Number(length)).toBeLessThan(10)
  expect(one.code).toBe(1)
  expect(other).toEqual(one)
}, 60_000)

test('the simulator refuses invalid arguments with exit code 2', async () => {
  const refused = await Promise.all([simulate('--histories', '0'), simulate('--broken', 'everything')])
  expect(refused).toMatchObject([
    { code: 2, stderr: expect.stringContaining("not '0'") },
    { code: 2, stderr: expect.stringContaining('a request settles twice') },
  ])
})
