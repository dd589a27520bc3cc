import { spawnSync } from 'node:child_process'
import { test } from '@jest/globals'

/** Whether Amazon's DynamoDB Local can run here. */
export const hasJava = spawnSync('java', ['-version'], { stdio: 'ignore' }).status === 0

/** For tests that only Amazon's own database can pass or fail. The end of `npm test` says if they were left out. */
export const testWithAmazon = hasJava ? test : test.skip
