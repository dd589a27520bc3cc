// Around the gateway: operators, SDKs, the console, AWS, documents, large inputs. `npm run test:quick` leaves them out. A
// file that is named on the command line runs in any case.
const AROUND = '(operator|examples|sdk|console|local|infra|deployed|documents|robust|http|simulation|tokenizer)/'

// Programs of others, which are installed on first use: `npm run test:clients`.
const CLIENTS = 'clients/'

// A browser that shares two cores with four other workers misses its deadlines: pages run by themselves at the end of `npm test`.
const PAGES = 'console/(page|keyboard|whole-way|usage-page)'

const LEFT_OUT = { quick: [AROUND, CLIENTS], clients: [], beside: [PAGES, CLIENTS] }[process.env.TEST_SET] ?? [CLIENTS]

export default {
  runner: '<rootDir>/test/support/runner/runner.ts',
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  testPathIgnorePatterns: LEFT_OUT.map((pattern) => `<rootDir>/test/${pattern}`),
  // Node reads TypeScript by itself.
  transform: {},
  globalSetup: '<rootDir>/test/support/set-up.ts',
  globalTeardown: '<rootDir>/test/support/tear-down.ts',
  testSequencer: '<rootDir>/test/support/longest-first.js',
  // For tests that hang. It is no bound of speed: the machine may have other work.
  testTimeout: 180_000,
  // More than the two cores that it is run on: some wait for a database to start, or for an outage to end.
  maxWorkers: 4,
  // With --coverage only, which takes a third more time: `npm run coverage`. It leaves out the files that bound how much
  // of the processor something may take.
  coverageProvider: 'v8',
  collectCoverageFrom: ['{catalog,functions,layers,local,operator}/**/*.ts'],
  coverageReporters: ['text-summary'],
  coverageThreshold: { global: { statements: 99, branches: 94, functions: 97, lines: 99 } },
}
