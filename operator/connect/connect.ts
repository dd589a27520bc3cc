import { readFile } from 'node:fs/promises'
import { awsTrouble, troubleLine } from '../../layers/gateway/aws/trouble.ts'
import { LOCAL_STAGE, OUTPUTS, stackName } from '../../layers/gateway/contract.ts'
import { type OperatorTables, openOperatorTables } from '../../layers/gateway/store/operator-tables.ts'
import { CliError } from '../terminal/cli-error.ts'
import { DEPLOY, START } from '../terminal/how-to-run.ts'
import { awsCaller, localUser, type WhoAmI } from './caller-identity.ts'
import { endpointOf, LOCAL_TABLES, type LocalFile, localFile, localFolder } from './local-gateway.ts'
import type { NamedVariable } from './local-keys.ts'

export type Target = {
  readonly local?: boolean
  readonly stage?: string
  /** The stack with the gateway, if it is not one that Waybill's own commands have deployed. */
  readonly stack?: string
  /** Bypasses the stage's admin API. */
  readonly direct?: boolean
}

export type Connection = {
  readonly tables: OperatorTables
  readonly stage: string
  /** True if changes need a confirmation. */
  readonly isProtected: boolean
  /** True if requests can come over IPv6. */
  readonly ipv6: boolean
  /** The addresses of chat and of the other endpoints: the same one, unless the stack has no distribution. */
  readonly chatUrl: string
  readonly apiUrl: string
  /** The address of the stage's admin API, if it has one: it is used in place of the tables. */
  readonly adminUrl?: string
  readonly echoUrl?: string
  /** The variables that the local gateway sends to its providers. */
  readonly variables?: readonly NamedVariable[]
  /** Asked only by a command that changes something, and then once. */
  readonly whoAmI: WhoAmI
}

/** The gateway that a command works on; the local gateway is the one that was started in this folder. */
export async function connect(target: Target, folder = process.cwd()): Promise<Connection> {
  const { local, stage, stack = stage && stackName(stage), direct } = target
  if ([local, stage, target.stack].filter(Boolean).length > 1)
    throw new CliError('Choose one of --local, --stage and --stack.')
  if (direct && !stack) throw new CliError('--direct goes with --stage NAME or --stack NAME.')
  if (local) return connectLocal(folder)
  if (stack) return connectStack(stack, direct === true)
  throw new CliError(
    `Say which gateway this is for: --stage NAME for one in AWS, --stack NAME for one in a stack of your own, --local for the one that '${START}' runs here. 'waybill use' keeps it for the next commands.`,
  )
}

async function connectLocal(folder: string): Promise<Connection> {
  const text = await readFile(localFile(localFolder(folder)), 'utf8').catch(() => {
    throw new CliError(`No local gateway is running here. Start one with '${START}' in this folder.`)
  })
  const file = JSON.parse(text) as LocalFile
  return localConnection(openOperatorTables(LOCAL_TABLES, endpointOf(file)), file)
}

export function localConnection(
  tables: OperatorTables,
  { baseUrl, echoUrl, variables }: Pick<LocalFile, 'baseUrl' | 'echoUrl' | 'variables'>,
): Connection {
  const addresses = { chatUrl: baseUrl, apiUrl: baseUrl, echoUrl }
  return {
    tables,
    stage: LOCAL_STAGE,
    isProtected: false,
    ipv6: false,
    ...addresses,
    variables,
    whoAmI: localUser,
  }
}

/** The stack's outputs have all addresses; the operator's own credentials do the rest. */
async function connectStack(stack: string, isDirect: boolean): Promise<Connection> {
  const { outputs, status } = await readStack(stack)
  const output = (name: string): string => {
    const value = outputs.get(name)
    if (value !== undefined) return value
    throw new CliError(
      `The stack ${stack} is ${status} and has no output '${name}'. Wait until its deployment has ended, or deploy it again.`,
    )
  }
  const baseUrl = outputs.get(OUTPUTS.baseUrl)
  const adminUrl = isDirect ? undefined : outputs.get(OUTPUTS.adminUrl)
  const tables = openOperatorTables({
    keysTable: output(OUTPUTS.keysTable),
    usageTable: output(OUTPUTS.usageTable),
    answersTable: output(OUTPUTS.answersTable),
  })
  return {
    stage: output(OUTPUTS.stage),
    isProtected: output(OUTPUTS.protected) !== 'false',
    ipv6: output(OUTPUTS.ipv6) !== 'false',
    tables,
    whoAmI: awsCaller(tables),
    chatUrl: withoutVersion(baseUrl ?? output(OUTPUTS.chatUrl)),
    apiUrl: withoutVersion(baseUrl ?? output(OUTPUTS.apiUrl)),
    ...(adminUrl && { adminUrl }),
  }
}

/** The base URL of a stack is for SDKs, with `/v1`. */
function withoutVersion(address: string): string {
  return address.replace(/\/v1$/, '')
}

type StackFacts = { readonly outputs: ReadonlyMap<string, string>; readonly status: string | undefined }

async function readStack(name: string): Promise<StackFacts> {
  const { CloudFormationClient, DescribeStacksCommand } = await import('@aws-sdk/client-cloudformation')
  const client = new CloudFormationClient({})
  try {
    const { Stacks: [stack] = [] } = await client.send(new DescribeStacksCommand({ StackName: name }))
    const outputs = stack?.Outputs ?? []
    return {
      outputs: new Map(outputs.map(({ OutputKey = '', OutputValue = '' }) => [OutputKey, OutputValue])),
      status: stack?.StackStatus,
    }
  } catch (error) {
    const trouble = awsTrouble(error)
    if (trouble) throw new CliError(troubleLine(trouble))
    if ((error as Error).name !== 'ValidationError') throw error
    const [region, whoever] = [await client.config.region(), await awsCaller({ client })()]
    throw new CliError(
      `There is no stack ${name} in ${region} for ${whoever}. Look at AWS_REGION and AWS_PROFILE, or make it with '${DEPLOY}'.`,
    )
  } finally {
    client.destroy()
  }
}
