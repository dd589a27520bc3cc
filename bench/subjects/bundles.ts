import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { buildSync } from 'esbuild'
import { bundleFunction } from '../../infra/functions/bundle.ts'
import { GIVES_MEMORY_BACK } from '../../infra/stages.ts'
import type { FunctionName } from '../../layers/gateway/endpoints.ts'
import { ENV } from '../../layers/gateway/names.ts'
import { LOCAL_TABLES } from '../../local/local-tables.ts'

/** The code of one function as it is deployed, alone in a folder where no node_modules of ours can be found. */
export type Bundle = Disposable & { readonly folder: string; readonly bytes: number; readonly gzipBytes: number }

export function bundleOf(name: FunctionName | 'sweep'): Bundle {
  return inFolder((file) => copyFileSync(join(bundleFunction(name), 'index.js'), file))
}

/** A function that does nothing, made with the options of infra/functions/bundle.ts. */
export function bundleHelloWorld(): Bundle {
  const contents = `export const handler = async () => ({ statusCode: 200, headers: {}, body: 'Hello' })`
  const options = { bundle: true, minify: true, platform: 'node', target: 'node24', format: 'cjs' } as const
  return inFolder((file) => buildSync({ ...options, stdin: { contents }, outfile: file }))
}

function inFolder(write: (file: string) => void): Bundle {
  const folder = mkdtempSync(join(tmpdir(), 'waybill-bundle-'))
  const file = join(folder, 'index.js')
  write(file)
  const code = readFileSync(file)
  return {
    folder,
    bytes: code.length,
    gzipBytes: gzipSync(code).length,
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** All that a function in AWS has in its environment, but with DynamoDB here: nothing comes from ours. */
export function lambdaEnvironment(dynamodb: string, memoryMb = 512): Record<string, string> {
  return {
    ...GIVES_MEMORY_BACK,
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(memoryMb),
    [ENV.keysTable]: LOCAL_TABLES.keysTable,
    [ENV.usageTable]: LOCAL_TABLES.usageTable,
    [ENV.answersTable]: LOCAL_TABLES.answersTable,
    [ENV.stage]: 'prod',
    [ENV.tokenizerFunction]: 'none',
    AWS_ENDPOINT_URL_DYNAMODB: dynamodb,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
    AWS_LAMBDA_FUNCTION_NAME: 'bench',
    TZ: ':UTC',
  }
}
