import type { Credentials } from '../../layers/gateway/platform/config.ts'
import { Engine } from './engine.ts'
import { createDynamoDbServer, listenHere } from './http-server.ts'
import { openKeptData } from './kept-data.ts'

export type DatabaseOptions = {
  readonly credentials: Credentials | null
  readonly file: string | null
  /** The write units that an item takes a second; without it, any number. */
  readonly unitsASecond?: number | undefined
}

const EXPIRE_EVERY_MS = 10 * 60_000

export async function openDatabase({ credentials, file, unitsASecond }: DatabaseOptions) {
  const kept = file === null ? undefined : openKeptData(file)
  const engine = new Engine({ ...(kept && { journal: kept }), ...(unitsASecond && { unitsASecond }) })
  const commit = () => kept?.commit()
  kept?.restore(engine)
  const expire = () => {
    engine.expire()
    commit()
  }
  expire()
  const timer = setInterval(expire, EXPIRE_EVERY_MS)
  const server = createDynamoDbServer({ engine, credentials, commit })
  const port = await listenHere(server)
  return {
    endpoint: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      commit()
      kept?.[Symbol.dispose]()
    },
  }
}
