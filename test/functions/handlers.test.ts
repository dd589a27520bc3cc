import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { ENV } from '../../layers/gateway/names.ts'
import { ROOT } from '../documents/support/markdown.ts'

const VARIABLES = Object.fromEntries(Object.values(ENV).map((name) => [name, 'x']))
const LAMBDA = { ...VARIABLES, AWS_REGION: 'us-east-1', AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '192' }

// In a bundle, a constant that is used above its line is undefined. As a module the same code throws.
test.each(['admin', 'api', 'chat', 'close', 'sweep'])('the handler of %s uses nothing above its line', (name) => {
  const path = JSON.stringify(join(ROOT, `functions/${name}/handler.ts`))
  const code = `globalThis.awslambda = { streamifyResponse: (f) => f }; await import(${path}); process.exit(0)`
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', code], {
    env: { PATH: process.env.PATH, ...LAMBDA },
    encoding: 'utf8',
  })
  expect([stderr, status]).toEqual(['', 0])
})
