import { HISTORIES, runChecks, TESTS } from './support/run-checks.ts'

// Everything that must pass: `npm test`.
await runChecks([
  { name: 'lint', script: 'lint' },
  { name: 'types', script: 'typecheck' },
  { name: 'simulator', script: 'simulate', args: ['--histories', '2000'], result: HISTORIES },
  { name: 'tests', script: 'jest', env: { TEST_SET: 'beside' }, result: TESTS },
  { name: 'page', script: 'jest', args: ['test/console/page.test.ts', 'test/console/keyboard.test.ts'], result: TESTS },
])
