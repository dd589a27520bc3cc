// A file's name says when it runs: `*.test.ts` with `npm test`, `*.rest.test.ts` with `npm run test:rest`. A file that is
// named on the command line runs in any case.
const REST = '\\.rest\\.test\\.ts$'

// Programs of others, which are installed on first use: `npm run test:clients`.
const CLIENTS = '/test/clients/'

// A browser that shares two cores with four other workers misses its deadlines: pages run by themselves.
const PAGES = '/test/console/[\\w-]+\\.page\\.'

const LEFT_OUT = { guard: [REST, CLIENTS], rest: [PAGES, CLIENTS], clients: [] }[process.env.TEST_SET] ?? [CLIENTS]

export default {
  runner: '<rootDir>/test/support/runner/runner.ts',
  roots: ['<rootDir>/test'],
  testMatch: [process.env.TEST_SET === 'rest' ? '**/*.rest.test.ts' : '**/*.test.ts'],
  testPathIgnorePatterns: LEFT_OUT,
  // Jest keeps how long each file took there, and begins the next run with the longest.
  cacheDirectory: '<rootDir>/.jest',
  reporters: ['default', '<rootDir>/test/support/slowest.ts'],
  // Node reads TypeScript by itself.
  transform: {},
  globalSetup: '<rootDir>/test/support/set-up.ts',
  globalTeardown: '<rootDir>/test/support/tear-down.ts',
  // For tests that hang. It is no bound of speed: the machine may have other work.
  testTimeout: 180_000,
  // More than the two cores that it is run on: some wait for a database to start, or for an outage to end.
  maxWorkers: 4,
  // With --coverage only, which takes a third more time: `npm run coverage`. It leaves out the files that bound how much
  // of the processor something may take.
  coverageProvider: 'v8',
  collectCoverageFrom: ['{cli,functions,layers,local}/**/*.ts'],
  coverageReporters: ['text-summary'],
  coverageThreshold: { global: { statements: 99, branches: 94, functions: 97, lines: 99 } },
}
