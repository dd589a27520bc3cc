import { relative } from 'node:path'
import type { AggregatedResult } from '@jest/test-result'

const SHOWN = 20

/** Prints the files that took longest, so that nobody has to ask why a run is slow. */
export default class Slowest {
  onRunComplete(_contexts: unknown, { testResults }: AggregatedResult): void {
    if (testResults.length <= SHOWN) return
    const slowest = testResults.toSorted((a, b) => b.perfStats.runtime - a.perfStats.runtime).slice(0, SHOWN)
    const lines = slowest.map(
      ({ perfStats, testFilePath }) =>
        `${(perfStats.runtime / 1000).toFixed(1).padStart(6)} s  ${relative('.', testFilePath)}`,
    )
    console.log(`\nThe slowest ${SHOWN} of ${testResults.length} files:\n${lines.join('\n')}`)
  }
}
