import { HISTORIES, runChecks, TESTS } from './support/run-checks.ts'

// The depth behind `npm test`, which CI runs after it: `npm run test:rest`.
await runChecks([
  { name: 'simulator', script: 'simulate', args: ['--histories', '2000', '--seed', '2'], result: HISTORIES },
  { name: 'rest', script: 'jest', env: { TEST_SET: 'rest' }, result: TESTS },
  { name: 'pages', script: 'jest', args: ['\\.page\\.', '--maxWorkers', '2'], result: TESTS },
])
