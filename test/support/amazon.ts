import { test } from '@jest/globals'
import { hasJava } from './programs.ts'

/** For tests that only Amazon's own database can pass or fail. The end of `npm test` says if they were left out. */
export const testWithAmazon = hasJava() ? test : test.skip
