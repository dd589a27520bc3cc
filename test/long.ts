import { HISTORIES, runChecks, TESTS } from './support/run-checks.ts'

/** The settings by which cases that `npm test` tries a few times are tried many times. */
const MANY = {
  KILL_ROUNDS: '60',
  LOCAL_KILLS: '50',
  FIELD_REQUESTS: '2000',
  HELD_REQUESTS: '2000',
  MODEL_STEPS: '20000',
  FAULT_CONTRACTS: 'all',
}
const FILES = ['kill', 'passed-fields', 'hold-covers', 'beside-amazon', 'robust/upstream']

// Checks that take too long for every change, and run every night: `npm run test:long`.
await runChecks([
  { name: 'simulator', script: 'simulate', result: HISTORIES },
  { name: 'faults', script: 'simulate', args: ['--broken', 'all'] },
  { name: 'many', script: 'jest', args: [...FILES, '--testTimeout', '600000'], env: MANY, result: TESTS },
  {
    name: 'amazon',
    script: 'jest',
    args: ['--testTimeout', '120000'],
    env: { TEST_DATABASE: 'amazon', TEST_CASES: 'all' },
    result: TESTS,
  },
  { name: 'coverage', script: 'coverage', result: TESTS },
])
