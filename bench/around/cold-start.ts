import { fileURLToPath } from 'node:url'
import type { Bundle } from '../subjects/bundles.ts'
import type { Cores } from './cores.ts'
import { startMeasured } from './measured-process.ts'

const LAMBDA_HOST = fileURLToPath(new URL('../subjects/lambda-host.cjs', import.meta.url))

export type ColdStart = {
  readonly loadMs: number
  /** The time to answer the first request. */
  readonly firstMs: number
  /** The time from the start of the process to its answer. */
  readonly wholeMs: number
}

type Reply = { readonly ms: number; readonly statusCode?: number }

/** Starts a function in a fresh process and has it answer one event. */
export async function coldStart(
  cores: Cores,
  bundle: Bundle,
  event: object,
  env: Record<string, string>,
): Promise<ColdStart> {
  const startMs = performance.now()
  await using host = startMeasured(cores, [LAMBDA_HOST], { cwd: bundle.folder, env: withPath(env) })
  await host.message()
  const { ms: loadMs } = await host.ask<Reply>({ load: true })
  const { ms: firstMs, statusCode = 200 } = await host.ask<Reply>({ event })
  if (statusCode >= 500) throw new Error(`A function answered its first event with ${statusCode}.`)
  return { loadMs, firstMs, wholeMs: performance.now() - startMs }
}

/** The PATH, by which taskset is found. */
export function withPath(env: Record<string, string>): Record<string, string> {
  return { PATH: process.env.PATH ?? '', ...env }
}
