import { expect } from 'expect'
import { ModuleMocker } from 'jest-mock'

// In place of '@jest/globals', which jest's own runtime makes.
export { afterAll, afterEach, beforeAll, beforeEach, describe, it, test } from 'jest-circus'
export { expect }

const mocker = new ModuleMocker(globalThis)

export const jest = {
  spyOn: mocker.spyOn.bind(mocker),
  restoreAllMocks: () => mocker.restoreAllMocks(),
  setTimeout: (ms: number) => Reflect.set(globalThis, Symbol.for('TEST_TIMEOUT_SYMBOL'), ms),
}
