import { registerHooks } from 'node:module'
import { pathToFileURL } from 'node:url'
import type { AssertionResult, TestResult } from '@jest/test-result'
import type { Circus, Config } from '@jest/types'
import * as circus from 'jest-circus'
import { formatResultsErrors } from 'jest-message-util'
import { coverageOf } from './coverage-of.ts'
import { freshModules, nextFile } from './fresh-modules.ts'

registerHooks(freshModules)

type Run = { readonly path: string; readonly project: Config.ProjectConfig; readonly global: Config.GlobalConfig }

/** Called by the runner, in a process that may have run other files. */
export async function runFile(run: Run): Promise<TestResult> {
  const startMs = Date.now()
  const environment = { ...process.env }
  begin(run)
  try {
    const { value, v8Coverage } = await coverageOf(run, nextFile(), async () => {
      await import(pathToFileURL(run.path).href)
      return circus.run()
    })
    return { ...toResult(value, run, startMs), ...(v8Coverage && { v8Coverage }) }
  } finally {
    tell({ name: 'teardown' })
    process.off('unhandledRejection', failTest)
    for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name]
    Object.assign(process.env, environment)
  }
}

function begin({ project, global }: Run): void {
  circus.resetState()
  Reflect.set(globalThis, Symbol.for('TEST_TIMEOUT_SYMBOL'), global.testTimeout ?? project.testTimeout)
  tell({ name: 'setup', parentProcess: process, testNamePattern: global.testNamePattern })
  process.removeAllListeners('unhandledRejection').on('unhandledRejection', failTest)
}

/** As an error that nobody catches does. */
function failTest(error: unknown): void {
  tell({ name: 'error', error })
}

/** Jest's own runner tells its framework so: the framework exports no function for these two events. */
function tell(event: object): void {
  const handlers = Reflect.get(globalThis, Symbol.for('EVENT_HANDLERS')) as Circus.EventHandler[]
  for (const handler of handlers) handler(event as Circus.SyncEvent & Circus.AsyncEvent, circus.getState())
}

function toResult({ testResults, unhandledErrors }: Circus.RunResult, run: Run, startMs: number): TestResult {
  const assertions = testResults.map(toAssertion)
  const count = (status: AssertionResult['status']) => assertions.filter((each) => each.status === status).length
  const failures = formatResultsErrors(assertions, run.project, run.global, run.path)
  return {
    failureMessage: [failures, ...unhandledErrors].filter(Boolean).join('\n') || null,
    leaks: false,
    numFailingTests: count('failed') + unhandledErrors.length,
    numPassingTests: count('passed'),
    numPendingTests: count('pending'),
    numTodoTests: count('todo'),
    openHandles: [],
    perfStats: times(startMs, Date.now(), run.project.slowTestThreshold),
    skipped: assertions.length > 0 && count('pending') === assertions.length,
    snapshot: { added: 0, fileDeleted: false, matched: 0, unchecked: 0, uncheckedKeys: [], unmatched: 0, updated: 0 },
    testFilePath: run.path,
    testResults: assertions,
  }
}

function times(start: number, end: number, slowSeconds: number): TestResult['perfStats'] {
  const runtime = end - start
  const environment = { loadTestEnvironmentStart: start, loadTestEnvironmentEnd: start }
  const setup = { setupFilesStart: start, setupFilesEnd: start, setupAfterEnvStart: start, setupAfterEnvEnd: start }
  return { start, end, runtime, slow: runtime > slowSeconds * 1000, ...environment, ...setup }
}

function toAssertion(result: Circus.TestResult): AssertionResult {
  const [, ...titles] = result.testPath
  return {
    ancestorTitles: titles.slice(0, -1),
    duration: result.duration ?? null,
    failureDetails: [...result.errorsDetailed],
    failureMessages: [...result.errors],
    fullName: titles.join(' '),
    location: result.location ?? null,
    numPassingAsserts: result.numPassingAsserts,
    status: statusOf(result),
    title: titles.at(-1) ?? '',
  }
}

function statusOf({ errors, status }: Circus.TestResult): AssertionResult['status'] {
  if (errors.length > 0) return 'failed'
  return status === 'skip' ? 'pending' : status === 'todo' ? 'todo' : 'passed'
}
