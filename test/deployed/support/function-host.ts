import { createRequire } from 'node:module'
import type { Reply } from './function-process.ts'

// Started in the folder of a function's code: loads it as Lambda does, then answers one event at a time.
type Handler = (event: unknown, context: { getRemainingTimeInMillis(): number }) => Promise<unknown>

const [file, name] = (process.env._HANDLER ?? '').split('.') as [string, string]
const handler = createRequire(`${process.cwd()}/`)(`./${file}.js`)[name] as Handler

process.on('message', async ({ event, timeoutMs }: { event: unknown; timeoutMs: number }) => {
  const endsAtMs = Date.now() + timeoutMs
  process.send?.(await answer(event, { getRemainingTimeInMillis: () => endsAtMs - Date.now() }))
})
process.send?.('ready')

async function answer(event: unknown, context: Parameters<Handler>[1]): Promise<Reply> {
  try {
    return { result: await handler(event, context) }
  } catch (error) {
    return { error: String((error as Error).stack) }
  }
}
