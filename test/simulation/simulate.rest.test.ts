import { expect, test } from '@jest/globals'
import { CONTRACTS } from '../../layers/gateway/endpoints.ts'
import { emptyFolder, run } from '../support/processes.ts'
import { ACTS } from './history.ts'

const simulate = (...args: string[]) => run('test/simulation/simulate.ts', args, emptyFolder()).ended

// `npm test` runs 500, `npm run test:rest` 2,000 beside this, and `npm run test:long` 20,000.
test('the simulator finds no lost or invented credit in 200 histories through every contract, and nothing done twice that is asked for again, and says how many it ran', async () => {
  const { code, stdout, stderr } = await simulate('--seed', '500000', '--histories', '200')
  expect(stderr).toBe('')
  expect(stdout).toMatch(/^200 histories from seed 500000: .* 0 nanocredits lost/)
  const counts = [...CONTRACTS, ...ACTS].map((name) => Number(new RegExp(`${name} (\\d+),`).exec(stdout)?.[1]))
  expect(Math.min(...counts)).toBeGreaterThan(0)
  expect(code).toBe(0)
}, 240_000)

// One of each kind: a condition left out, an update that writes something else, another order, a wrong count, a wrong price, an act that
// every caller does, books that are closed too early, an act that a hammered key crowds out, credits of an account that move otherwise, lanes that take more than their part. `npm run test:long` has all of them; some need hundreds of histories.
test('the simulator catches faults that are built into the gateway on purpose', async () => {
  const faults = [
    'a request settles twice',
    'no sweep is told of a hold',
    'a notice is noted, and not kept',
    'the money moves before the row is written',
    'half of an answer is charged',
    'every request is charged at its lowest tier',
    'the cost of a route is counted at its lowest tier',
    'a prompt is held for less than its bound',
    'an operator’s Idempotency-Key is claimed by two',
    'an operator’s Idempotency-Key is claimed when its act is done',
    'a day is closed while a request of it is open',
    'a day is noted as closed without its totals',
    'the export leaves a key out',
    'a total goes on without the sum that was kept',
    'a total goes on from the first row with the sum that was kept',
    'the export goes on behind its cursor',
    'hours are not added up again when a row came late',
    'a charge names another catalog than that of its prices',
    'a revoked key is admitted',
    'a suspended key is admitted',
    'a suspension undoes a revoke',
    'a revoke is a transaction',
    'the event of a revoke is written after it',
    'an event is moved under another id by everyone who moves it',
    'a correction takes what is not available',
    'a reference is used again without a word',
    'a draw takes more than the pool has',
    'a return is counted by everyone who sees it',
    'a draw that was cut off is taken in by nobody',
    'an account is left alone while credits are drawn',
    'a change of an account forgets a key',
    'a revoke forgets a lane',
    'each lane has the whole rate',
    'a draw is taken in twice by a lane',
    'tpm is read, then written',
    'tpm gives back to the window of the settlement',
  ]
  const { code, stdout } = await simulate('--histories', '1500', ...faults.flatMap((fault) => ['--broken', fault]))
  const caught = Array.from(stdout.matchAll(/^caught: (.+?) \(Seed /gm), ([, fault]) => fault)
  expect(caught.sort()).toEqual(faults.sort())
  expect(code).toBe(0)
}, 240_000)

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
}, 240_000)

test('the simulator prints a short history that breaks and how to see it again, the same on every run', async () => {
  const broken = ['--workers', '1', '--broken', 'the hold is not checked']
  const [one, other] = await Promise.all([simulate(...broken), simulate(...broken)])
  const [, seed] = /^Seed (\d+): .* available$/m.exec(one.stderr) ?? []
  expect(one.stderr).toContain(`Again: npm run simulate -- --seed ${seed} --histories 1`)
  const [, length] = /breaks \((\d+) of \d+ steps/.exec(one.stderr) ?? []
  expect(Number(length)).toBeLessThan(10)
  expect(one.code).toBe(1)
  expect(other).toEqual(one)
}, 240_000)
