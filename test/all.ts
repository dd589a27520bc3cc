import { HISTORIES, runChecks, TESTS } from './support/run-checks.ts'

const PAGES = ['page', 'keyboard', 'whole-way', 'usage-page'].map((name) => `test/console/${name}.test.ts`)

// Everything that must pass: `npm test`.
await runChecks([
  { name: 'lint', script: 'lint' },
  { name: 'types', script: 'typecheck' },
  { name: 'simulator', script: 'simulate', args: ['--histories', '2000'], result: HISTORIES },
  { name: 'tests', script: 'jest', env: { TEST_SET: 'beside' }, result: TESTS },
  { name: 'pages', script: 'jest', args: [...PAGES, '--maxWorkers', '2'], result: TESTS },
])
