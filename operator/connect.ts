import { readFile } from 'node:fs/promises'
import { openTables, type Tables } from '../layers/gateway/store/tables.ts'
import { LOCAL_FILE, LOCAL_TABLES, type LocalFile } from '../local/settings.ts'
import { Problem } from './problem.ts'

export type Target = { readonly local?: boolean }

export type Connection = {
  readonly tables: Tables
  /** Where the local gateway's echo upstream listens. */
  readonly echoUrl?: string
}

/** What a command works on. */
export async function connect({ local }: Target): Promise<Connection> {
  if (!local) throw new Problem("Say which gateway this is for: --local for the one that 'npm start' runs here.")
  const text = await readFile(LOCAL_FILE, 'utf8').catch(() => {
    throw new Problem("No local gateway is running here. Start one with 'npm start' in this folder.")
  })
  const { dynamodbEndpoint, echoUrl } = JSON.parse(text) as LocalFile
  return { tables: openTables(LOCAL_TABLES, { endpoint: dynamodbEndpoint }), echoUrl }
}
