import { readFile } from 'node:fs/promises'
import type { WhoAmI } from '../../layers/admin/api/shapes/answers.ts'
import { LOCAL_STAGE, OUTPUTS, stackName } from '../../layers/gateway/names.ts'
import { awsTrouble, troubleLine } from '../../layers/gateway/platform/aws/trouble.ts'
import { DEPLOY, START } from '../../layers/terminal/how-to-run.ts'
import { CliError } from '../../layers/terminal/output.ts'
import { ask } from '../admin-client/ask.ts'
import { adminClient, byAws, bySecret, type SignIn, type Signing } from '../admin-client/http-client.ts'
import { type LocalFile, localFile, localFolder } from './local-gateway.ts'

export type Target = {
  readonly local?: boolean
  readonly stage?: string
  /** The stack with the gateway, if it is not one that Waybill's own commands have deployed. */
  readonly stack?: string
  /** The address of an admin API that is called with an admin key, without AWS. */
  readonly adminUrl?: string
  readonly adminKey?: string
}

export type Connection = {
  readonly stage: string
  /** True if changes need a confirmation. */
  readonly isProtected: boolean
  /** True if requests can come over IPv6; undefined if that is not known. */
  readonly ipv6?: boolean
  /** The addresses of chat and of the other endpoints: the same one, unless the stack has no distribution. */
  readonly chatUrl: string
  readonly apiUrl: string
  readonly adminUrl: string
  readonly signIn: SignIn
  /** The stack by which it was found in AWS. */
  readonly stack?: string
  readonly region?: string
}

/** The gateway that a command works on; the local gateway is the one that was started in this folder. */
export async function connect(target: Target, folder = process.cwd()): Promise<Connection> {
  const { local, stage, stack = stage && stackName(stage), adminUrl, adminKey } = target
  if ([local, stage, target.stack].filter(Boolean).length > 1)
    throw new CliError('Choose one of --local, --stage and --stack.')
  if (local) return connectLocal(folder)
  if (stack) return connectStack(stack)
  if (adminUrl) return connectByKey(adminUrl, adminKey)
  throw new CliError(
    `Say which gateway this is for: --stage NAME for one in AWS, --stack NAME for one in a stack of your own, --local for the one that '${START}' runs here. 'waybill use' keeps it for the next commands.`,
  )
}

async function connectLocal(folder: string): Promise<Connection> {
  const text = await readFile(localFile(localFolder(folder)), 'utf8').catch(() => {
    throw new CliError(`No local gateway is running here. Start one with '${START}' in this folder.`)
  })
  return localConnection(JSON.parse(text) as LocalFile)
}

export function localConnection({ baseUrl, adminToken }: Pick<LocalFile, 'baseUrl' | 'adminToken'>): Connection {
  const addresses = { chatUrl: baseUrl, apiUrl: baseUrl, adminUrl: baseUrl }
  return { stage: LOCAL_STAGE, isProtected: false, ipv6: false, ...addresses, signIn: bySecret(adminToken, 'signed') }
}

/** An admin key knows nothing of AWS: the admin API itself tells the stage and its address. */
async function connectByKey(adminUrl: string, adminKey: string | undefined): Promise<Connection> {
  if (!adminKey) throw new CliError('WAYBILL_ADMIN_URL goes with an admin key in WAYBILL_ADMIN_KEY.')
  const signIn = bySecret(adminKey, 'keyed')
  const told = await ask(adminClient({ adminUrl, signIn })).get<WhoAmI>('/whoami')
  const address = withoutVersion(told.base_url)
  return { stage: told.stage, isProtected: told.protected, chatUrl: address, apiUrl: address, adminUrl, signIn }
}

/** The stack's outputs have all addresses; the operator's own credentials sign the calls. */
async function connectStack(stack: string): Promise<Connection> {
  const { outputs, status, signing, region } = await readStack(stack)
  const output = (name: string): string => {
    const value = outputs.get(name)
    if (value !== undefined) return value
    throw new CliError(
      `The stack ${stack} is ${status} and has no output '${name}'. Wait until its deployment has ended, or deploy it again.`,
    )
  }
  const baseUrl = outputs.get(OUTPUTS.baseUrl)
  return {
    stage: output(OUTPUTS.stage),
    isProtected: output(OUTPUTS.protected) !== 'false',
    ipv6: output(OUTPUTS.ipv6) !== 'false',
    chatUrl: withoutVersion(baseUrl ?? output(OUTPUTS.chatUrl)),
    apiUrl: withoutVersion(baseUrl ?? output(OUTPUTS.apiUrl)),
    adminUrl: output(OUTPUTS.adminUrl),
    signIn: byAws(signing),
    stack,
    region,
  }
}

/** The base URL of a stack is for SDKs, with `/v1`. */
function withoutVersion(address: string): string {
  return address.replace(/\/v1$/, '')
}

async function readStack(name: string) {
  const { CloudFormationClient, DescribeStacksCommand } = await import('@aws-sdk/client-cloudformation')
  const client = new CloudFormationClient({})
  try {
    const { Stacks: [stack] = [] } = await client.send(new DescribeStacksCommand({ StackName: name }))
    const outputs = stack?.Outputs ?? []
    return {
      outputs: new Map(outputs.map(({ OutputKey = '', OutputValue = '' }) => [OutputKey, OutputValue])),
      status: stack?.StackStatus,
      signing: client.config as Signing,
      region: await client.config.region(),
    }
  } catch (error) {
    const trouble = awsTrouble(error)
    if (trouble) throw new CliError(troubleLine(trouble))
    if ((error as Error).name !== 'ValidationError') throw error
    throw new CliError(
      `There is no stack ${name} in ${await client.config.region()} for your credentials. Look at AWS_REGION and AWS_PROFILE ('aws sts get-caller-identity' says who you are), or make it with '${DEPLOY}'.`,
    )
  } finally {
    client.destroy()
  }
}
