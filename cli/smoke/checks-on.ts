import type { Output } from '../../layers/gateway/domain/basics/plain-text.ts'
import type { NotApplicable } from './stage-checks.ts'

export type Check = (what: string, work: () => unknown) => Promise<void>

/** Prints the outcome of each check, and counts those that failed. */
export function checksOn(out: Output): { readonly check: Check; failures(): number } {
  let failures = 0
  return {
    async check(what, work) {
      try {
        const result = (await work()) as NotApplicable | undefined
        out.log(result ? `n/a     ${what}: ${result.notApplicable}` : `ok      ${what}`)
      } catch (error) {
        failures += 1
        out.log(`FAILED  ${what}: ${error instanceof Error ? error.message : error}`)
      }
    },
    failures: () => failures,
  }
}
