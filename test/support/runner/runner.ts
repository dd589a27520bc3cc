import type { Test, TestResult } from '@jest/test-result'
import type { Config } from '@jest/types'
import { Worker } from 'jest-worker'

import type { runFile } from './run-file.ts'

type Farm = Worker & { readonly runFile: typeof runFile }

/**
 * Runs each test file by jest's own test framework, in processes of plain Node. Jest's usual runner gives each file a
 * context of its own and loads every package anew into it, which took more time than the tests. Besides, an error of
 * Node's own is an Error here, as it is for users.
 */
export default class PlainNodeRunner {
  readonly #global: Config.GlobalConfig

  constructor(global: Config.GlobalConfig) {
    this.#global = global
  }

  async runTests(
    tests: readonly Test[],
    _watcher: unknown,
    onStart: (test: Test) => Promise<void>,
    onResult: (test: Test, result: TestResult) => Promise<void>,
    onFailure: (test: Test, error: unknown) => Promise<void>,
  ): Promise<void> {
    const farm = new Worker(new URL('./run-file.ts', import.meta.url), {
      exposedMethods: ['runFile'],
      numWorkers: Math.min(this.#global.maxWorkers, tests.length),
      maxRetries: 0,
      forkOptions: { serialization: 'json', stdio: ['ignore', 'inherit', 'inherit', 'ipc'] },
    }) as Farm
    const runOne = async (test: Test) => {
      try {
        const running = farm.runFile({ path: test.path, project: test.context.config, global: this.#global })
        await onStart(test)
        await onResult(test, await running)
      } catch (error) {
        await onFailure(test, error)
      }
    }
    await Promise.all(tests.map(runOne))
    await farm.end()
  }
}
