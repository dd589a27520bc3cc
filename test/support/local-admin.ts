import type { LocalFile } from '../../cli/connect/local-gateway.ts'
import { newToken } from '../../cli/console/guard.ts'
import { createLocalAdmin, type LocalAdmin } from '../../local/local-admin.ts'
import { createGatewayServer } from '../../local/server.ts'
import type { TestGateway } from './gateway.ts'
import { listen } from './listen.ts'

/** The gateway as `npm start` serves it on this machine, with its admin API. */
export async function startLocalAdmin({
  instance,
  tables,
}: TestGateway): Promise<AsyncDisposable & { file: LocalFile }> {
  const admin = Promise.withResolvers<LocalAdmin>()
  const server = createGatewayServer(Promise.resolve(instance), { admin: admin.promise })
  const { url: baseUrl, ...served } = await listen(server)
  const [token, apiKeys] = [newToken(), { env: () => undefined, secret: async () => undefined }]
  const { clock, log } = instance
  admin.resolve(createLocalAdmin({ tables, apiKeys, clock, log, baseUrl, token }))
  const database = { dynamodbEndpoint: '', dynamodbCredentials: { accessKeyId: '', secretAccessKey: '' } }
  return {
    file: { baseUrl, ...database, demoKey: '', echoUrl: '', adminToken: token, pid: process.pid },
    ...served,
  }
}
