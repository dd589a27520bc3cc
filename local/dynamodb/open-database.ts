import type { Credentials } from '../../layers/gateway/platform/config.ts'
import { Engine } from './engine.ts'
import { createDynamoDbServer, listenHere } from './http-server.ts'

export type DatabaseOptions = {
  readonly credentials: Credentials | null
  readonly file: string | null
  /** The write units that an item takes a second; without it, any number. */
  readonly unitsASecond?: number | undefined
}

const EXPIRE_EVERY_MS = 10 * 60_000

export async function openDatabase({ credentials, file, unitsASecond }: DatabaseOptions) {
  const engine = new Engine({ file, unitsASecond })
  const expire = () => {
    engine.expire()
    engine.commit()
  }
  expire()
  const timer = setInterval(expire, EXPIRE_EVERY_MS)
  const server = createDynamoDbServer(engine, credentials)
  const port = await listenHere(server)
  return {
    endpoint: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      engine.close()
    },
  }
}
