import { describe, expect, test } from '@jest/globals'
import { emptyFolder, run } from '../support/processes.ts'

const simulate = (...args: string[]) => run('test/simulation/simulate.ts', args, emptyFolder()).ended

describe('the simulation', () => {
  // `npm test` lives through 5,000 beside this, and `npm run test:long` through 20,000.
  test('lives through histories in which no credit is lost or invented, and says how many', async () => {
    const { code, stdout, stderr } = await simulate('--seed', '500000', '--histories', '200')
    expect(stderr).toBe('')
    expect(stdout).toMatch(/^200 histories from seed 500000: .* 0 nanocredits lost/)
    expect(code).toBe(0)
  }, 60_000)

  // One of each kind: a condition left out, an update that writes something else, another order, a wrong count. `npm run
  // test:long` has all of them; some need hundreds of histories to be found.
  test('catches faults that are built into the gateway', async () => {
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

  test('fails if a fault is not caught', async () => {
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

  test('says in a short history what breaks and how to see it again, twice in the same words', async () => {
    const broken = ['--workers', '1', '--broken', 'the hold is not checked']
    const [one, other] = await Promise.all([simulate(...broken), simulate(...broken)])
    const [, seed] = /^Seed (\d+): .* available$/m.exec(one.stderr) ?? []
    expect(one.stderr).toContain(`Again: npm run simulate -- --seed ${seed} --histories 1`)
    const [, length] = /breaks \((\d+) of \d+ steps/.exec(one.stderr) ?? []
    expect(Number(length)).toBeLessThan(10)
    expect(one.code).toBe(1)
    expect(other).toEqual(one)
  }, 60_000)

  test('refuses arguments that mean nothing', async () => {
    const refused = await Promise.all([simulate('--histories', '0'), simulate('--broken', 'everything')])
    expect(refused).toMatchObject([
      { code: 2, stderr: expect.stringContaining("not '0'") },
      { code: 2, stderr: expect.stringContaining('a request settles twice') },
    ])
  })
})
