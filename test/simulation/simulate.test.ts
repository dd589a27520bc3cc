import { describe, expect, test } from '@jest/globals'
import { emptyFolder, run } from '../support/processes.ts'
import { VARIANTS } from './variants.ts'

const simulate = (...args: string[]) => run('test/simulation/simulate.ts', args, emptyFolder()).ended

describe('the simulation', () => {
  // `npm test` lives through 20,000 beside this, with the machine to itself.
  test('lives through histories in which no credit is lost or invented, and says how many', async () => {
    const { code, stdout, stderr } = await simulate('--seed', '500000', '--histories', '200')
    expect(stderr).toBe('')
    expect(stdout).toMatch(/^200 histories from seed 500000: .* 0 nanocredits lost/)
    expect(code).toBe(0)
  }, 60_000)

  test('catches every fault that is built into the gateway', async () => {
    const { code, stdout } = await simulate('--broken', 'all')
    expect(stdout.match(/^caught: /gm)).toHaveLength(VARIANTS.length)
    expect(code).toBe(0)
  }, 180_000)

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
