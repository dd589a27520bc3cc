import type { Credentials } from '../../layers/gateway/platform/config.ts'
import { Engine } from './engine.ts'
import { createDynamoDbServer, listenHere } from './http-server.ts'

export type DatabaseOptions = {
  /** Without them every program on this machine is let in. */
  readonly credentials: Credentials | null
  readonly file: string | null
  readonly unitsASecond?: number | undefined
}

export async function openDatabase({ credentials, file, unitsASecond }: DatabaseOptions) {
  const engine = new Engine({ file, unitsASecond })
  const expire = () => {
    engine.expire()
    engine.commit()
  }
  expire()
  const timer = setInterval(expire, 10 * 60_000)
  const server = createDynamoDbServer(engine, credentials)
  return {
    endpoint: `http://127.0.0.1:${await listenHere(server)}`,
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      engine.close()
    },
  }
}
