import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { adminClient } from '../../cli/admin-client/http-client.ts'
import type { Connection } from '../../cli/connect/connect.ts'
import type { Tables } from '../../layers/gateway/store/dynamodb/database.ts'
import { waybill, waybillOnTerminal } from './command-line.ts'
import { listen } from './listen.ts'
import { type Ended, emptyFolder, type Process, run } from './processes.ts'
import { CALLER, type SignedAdmin, startSignedAdmin } from './signed-admin.ts'

/** A deployed stage as an operator meets it: CloudFormation as far as DescribeStacks goes, and the admin API. */
export type Stage = AsyncDisposable & {
  outputs: Record<string, string>
  /** The names of the stacks that were asked for. */
  readonly asked: string[]
  readonly admin: SignedAdmin
  /** Runs the command line in this process, with a profile for the stage and nothing else. */
  waybill(args: readonly string[], env?: Record<string, string>): Promise<Ended>
  /** The same on a terminal of so many columns. */
  onTerminal(args: readonly string[], columns: number, env?: Record<string, string>): Promise<Ended>
  /** Starts one of the operator's programs in a process of its own, with the same credentials. */
  start(file: string, args: readonly string[], env?: Record<string, string>): Process
}

/** `actMs` is the time of a change and `callMs` that of a call to the admin API, unless they are the usual. */
export type StageOptions = { readonly stackName?: string; readonly actMs?: number; readonly callMs?: number }

export async function startStage(
  tables: Tables,
  baseUrl: string,
  name: string,
  { stackName = `Waybill-${name}`, actMs, callMs }: StageOptions = {},
): Promise<Stage> {
  const server = createServer(async (request, response) => {
    const asked = new URLSearchParams(await text(request))
    const stack = asked.get('StackName') ?? ''
    stage.asked.push(stack)
    response.writeHead(stack === stackName ? 200 : 400, { 'Content-Type': 'text/xml' })
    response.end(stack === stackName ? described(stackName, stage.outputs) : NO_SUCH_STACK)
  })
  const cloudFormation = await listen(server)
  const isProtected = name === 'prod'
  const openAdmin = callMs ? (connection: Connection) => adminClient(connection, { callMs }) : undefined
  const admin = await startSignedAdmin(tables, baseUrl, { stage: name, isProtected, ...(actMs && { actMs }) })
  const access = {
    AWS_ENDPOINT_URL_CLOUDFORMATION: cloudFormation.url,
    // The tables are out of reach.
    AWS_ENDPOINT_URL_DYNAMODB: 'http://127.0.0.1:1',
    ...profileOnly(),
  }
  const stage: Stage = {
    outputs: {
      BaseUrl: baseUrl,
      AdminUrl: admin.url,
      KeysTable: tables.keys,
      UsageTable: tables.usage,
      AnswersTable: tables.answers,
      Ipv6: 'true',
      Protected: String(isProtected),
      Stage: name,
    },
    asked: [],
    admin,
    waybill: (args, env = {}) => waybill(emptyFolder(), args, { ...access, ...env }, openAdmin),
    onTerminal: (args, columns, env = {}) => waybillOnTerminal(emptyFolder(), args, columns, { ...access, ...env }),
    start: (file, args, env = {}) => run(file, [...args], emptyFolder(), { ...access, ...env }),
    async [Symbol.asyncDispose]() {
      await admin[Symbol.asyncDispose]()
      await cloudFormation[Symbol.asyncDispose]()
    },
  }
  return stage
}

/** The access of most people: a profile, and no variable with a key or a region. */
function profileOnly(): Record<string, string> {
  const file = join(emptyFolder(), 'config')
  const profile = '[profile ops]\nregion = us-east-1\naws_access_key_id = test\naws_secret_access_key = test\n'
  writeFileSync(file, profile)
  return { AWS_PROFILE: 'ops', AWS_CONFIG_FILE: file, AWS_SHARED_CREDENTIALS_FILE: '/dev/null' }
}

export { CALLER }

const NO_SUCH_STACK = `<ErrorResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/"><Error><Type>Sender</Type>
<Code>ValidationError</Code><Message>Stack with id X does not exist</Message></Error></ErrorResponse>`

function described(stackName: string, outputs: Record<string, string>): string {
  const members = Object.entries(outputs).map(
    ([key, value]) => `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`,
  )
  return `<DescribeStacksResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/"><DescribeStacksResult><Stacks>
<member><StackName>${stackName}</StackName><CreationTime>2026-11-15T00:00:00Z</CreationTime>
<StackStatus>CREATE_COMPLETE</StackStatus><Outputs>${members.join('')}</Outputs></member>
</Stacks></DescribeStacksResult></DescribeStacksResponse>`
}
