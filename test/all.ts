import { HISTORIES, runChecks, TESTS } from './support/run-checks.ts'

// Every promise has a test here: `npm test`.
await runChecks(
  [{ name: 'tests', script: 'jest', env: { TEST_SET: 'guard' }, result: TESTS }],
  [
    { name: 'lint', script: 'lint' },
    { name: 'types', script: 'typecheck' },
    { name: 'simulator', script: 'simulate', args: ['--histories', '500'], result: HISTORIES },
  ],
)
