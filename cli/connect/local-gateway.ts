import { join, resolve } from 'node:path'

// The names by which `npm start` and the command line find each other.

/** The folder of a local gateway, in the one in which it is started. Two folders are two gateways. */
export const LOCAL_FOLDER = '.waybill'

export function localFolder(cwd: string, given = process.env.WAYBILL_DATA || undefined): string {
  return resolve(cwd, given ?? LOCAL_FOLDER)
}

export function localFile(folder: string): string {
  return join(folder, 'local.json')
}

export type LocalFile = {
  readonly baseUrl: string
  readonly dynamodbEndpoint: string
  /** The password of the database, for the owner of the file only. */
  readonly dynamodbCredentials: { readonly accessKeyId: string; readonly secretAccessKey: string }
  /** Opens the admin API, for the owner of the file only. */
  readonly adminToken: string
  readonly demoKey: string
  readonly echoUrl: string
  readonly pid: number
}
