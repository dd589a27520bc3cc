import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { CliError } from '../../layers/terminal/output.ts'
import type { Terminal } from '../../layers/terminal/terminal.ts'
import type { Target } from './connect.ts'

type Environment = Terminal['env']
/** `by` is the place that names it. */
type ChosenGateway = Target & { readonly by: string }

export const STAGE_VARIABLE = 'WAYBILL_STAGE'
/** The address of an admin API, which is called with the admin key in WAYBILL_ADMIN_KEY. */
const ADMIN_URL_VARIABLE = 'WAYBILL_ADMIN_URL'
const NAMES = {
  stage: { rule: /^[A-Za-z][A-Za-z0-9-]{0,62}$/, sample: 'prod' },
  stack: { rule: /^[A-Za-z][A-Za-z0-9-]{0,127}$/, sample: 'MyApp' },
}

/** The gateway of a command: by an option, else by a variable, else by the file that 'waybill use' writes. */
export async function chosenTarget(options: Target, env: Environment): Promise<Target> {
  if (options.local || options.stage || options.stack) return options
  return { ...options, ...(await chosenGateway(env)) }
}

export async function chosenGateway(env: Environment): Promise<ChosenGateway | undefined> {
  const stage = env[STAGE_VARIABLE]
  if (stage) return { stage, by: STAGE_VARIABLE }
  const { [ADMIN_URL_VARIABLE]: adminUrl, WAYBILL_ADMIN_KEY: adminKey = '' } = env
  if (adminUrl) return { adminUrl, adminKey, by: ADMIN_URL_VARIABLE }
  const file = chosenFile(env)
  const text = await readFile(file, 'utf8').catch(() => undefined)
  return text === undefined ? undefined : { ...gatewayIn(text, file), by: file }
}

function gatewayIn(text: string, file: string): Target {
  try {
    const found = checkedGateway(JSON.parse(text) as Target)
    if (found) return found
  } catch {
    // The message below is for every content that is none of ours.
  }
  throw new CliError(`The file ${file} names no gateway. Choose one with 'waybill use NAME', or none with --none.`)
}

function checkedGateway({ local, stage, stack }: Target): Target | undefined {
  if (local === true) return { local }
  if (stage !== undefined) return checkedName('stage', stage)
  return stack === undefined ? undefined : checkedName('stack', stack)
}

/** Keeps the gateway, or none, for the next commands. */
export async function chooseGateway(named: Target | undefined, env: Environment): Promise<void> {
  const file = chosenFile(env)
  if (!named) return rm(file, { force: true })
  const gateway = checkedGateway(named)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, `${JSON.stringify(gateway)}\n`)
}

function checkedName(kind: keyof typeof NAMES, text: string): Target {
  const { rule, sample } = NAMES[kind]
  if (rule.test(text)) return { [kind]: text }
  throw new CliError(`'${text}' is not the name of a ${kind}. It has letters, digits and hyphens, such as ${sample}.`)
}

function chosenFile({ XDG_CONFIG_HOME, HOME }: Environment): string {
  return join(XDG_CONFIG_HOME || join(HOME || homedir(), '.config'), 'waybill', 'gateway.json')
}
