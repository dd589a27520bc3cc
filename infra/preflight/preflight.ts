import { Command, CommanderError } from 'commander'
import { type Output, plainOutput } from '../../layers/gateway/domain/basics/plain-text.ts'
import { awsTrouble } from '../../layers/gateway/platform/aws/trouble.ts'
import { SEED_FILE } from '../../layers/terminal/how-to-run.ts'
import { readSeed, readSettings } from '../settings.ts'
import { stageOf } from '../stages.ts'
import { Aws, findRegion } from './aws.ts'
import { CHECKS, failed, type Outcome } from './checks.ts'

const LABELS = { ok: 'ok     ', failed: 'FAILED ', unknown: 'unknown' }

export async function preflight(args: readonly string[], output: Output): Promise<number> {
  const out = plainOutput(output)
  const command = new Command('preflight')
    .description('Looks, before a first deployment, whether the account and the region are ready. Changes nothing.')
    .requiredOption('--stage <name>', 'the stage that is to be deployed')
    .option('--region <name>', 'the region; without it the one that AWS_REGION or your profile names')
    .option('--catalog <file>', `the catalog whose Bedrock models are looked at; without it ${SEED_FILE}`)
    .configureOutput({ writeOut: (text) => out.log(text.trimEnd()), writeErr: (text) => out.error(text.trimEnd()) })
    .exitOverride()
  try {
    command.parse(args, { from: 'user' })
    return (await look(command.opts(), out)) ? 0 : 1
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode
    out.error((error as Error).message)
    return 1
  }
}

type Options = { readonly stage: string; readonly region?: string; readonly catalog?: string }

async function look(options: Options, out: Output): Promise<boolean> {
  const stage = stageOf(options.stage, readSettings())
  const { catalog } = readSeed(options.catalog)
  const region = await findRegion(options.region).catch(() => {
    throw new Error('No AWS region is set. Set AWS_REGION, for example to us-east-1, or add --region.')
  })
  const plan = { aws: new Aws(region), stage, catalog }
  const checks = Object.entries(CHECKS)
  let failures = 0
  for (const [name, check] of checks) {
    const outcome = await check.look(plan).catch((error) => explain(error, check.right))
    const advice = outcome.is === 'ok' ? '' : ` ${outcome.advice}`
    out.log(`${LABELS[outcome.is]} ${name}: ${outcome.what}.${advice}`)
    if (outcome.is === 'failed') failures += 1
    if (name === 'credentials' && failures > 0) {
      out.log('\nThe rest is looked at when AWS knows who you are.')
      return false
    }
  }
  out.log(failures === 0 ? '\nReady to deploy.' : `\n${failures} of ${checks.length} checks failed.`)
  return failures === 0
}

function explain(error: Error, right: string): Outcome {
  const said = `${error.name}: ${error.message}`.replace(/\.$/, '')
  if (/AccessDenied|NotAuthorized|UnauthorizedOperation/.test(error.name)) {
    return failed(`it could not be looked at (${said})`, `Use credentials with the right ${right}.`)
  }
  const { what, advice } = awsTrouble(error) ?? { what: `AWS did not say (${said})`, advice: 'Try again.' }
  return failed(what, advice)
}
