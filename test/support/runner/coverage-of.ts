import { matchesGlob, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TestResult, V8CoverageResult } from '@jest/test-result'
import type { Config } from '@jest/types'
import { CoverageInstrumenter } from 'collect-v8-coverage'

type Configs = { readonly project: Config.ProjectConfig; readonly global: Config.GlobalConfig }

/** With --coverage, how much of our own modules was run by this file's tests. */
export async function coverageOf<T>(
  { project, global }: Configs,
  isOfThisFile: (url: string) => boolean,
  act: () => Promise<T>,
): Promise<{ value: T; v8Coverage: TestResult['v8Coverage'] }> {
  if (!global.collectCoverage) return { value: await act(), v8Coverage: undefined }
  const instrumenter = new CoverageInstrumenter()
  await instrumenter.startInstrumenting()
  const value = await act()
  const isCounted = (path: string) =>
    project.collectCoverageFrom.some((glob) => matchesGlob(relative(project.rootDir, path), glob))
  const v8Coverage: V8CoverageResult = (await instrumenter.stopInstrumenting())
    .filter(({ url }) => isOfThisFile(url))
    .map((result) => ({ codeTransformResult: undefined, result: { ...result, url: fileURLToPath(result.url) } }))
    .filter(({ result }) => isCounted(result.url))
  return { value, v8Coverage }
}
