import { pathToFileURL } from 'node:url'
import { Command } from 'commander'
import { readSeedCatalog } from '../read-seed-catalog.ts'
import { readSettings } from '../settings.ts'
import { stageOf } from '../stages.ts'
import { openAws } from './aws.ts'
import { type Check, failed, type Outcome, type Plan } from './check.ts'
import { CHECKS, CREDENTIALS } from './checks.ts'

const LABELS = { ok: 'ok     ', failed: 'FAILED ', unknown: 'unknown' }

const options = new Command('preflight')
  .description('Looks, before a first deployment, whether the account and the region are ready. Changes nothing.')
  .requiredOption('--stage <name>', 'the stage that is to be deployed')
  .option('--region <name>', 'the region; without it the one that AWS_REGION or your profile names')
  .option('--catalog <file>', 'the catalog whose Bedrock models are looked at; without it infra/catalog.json')
  .parse()
  .opts<{ stage: string; region?: string; catalog?: string }>()

try {
  process.exitCode = (await preflight()) ? 0 : 1
} catch (error) {
  console.error((error as Error).message)
  process.exitCode = 1
}

async function preflight(): Promise<boolean> {
  const stage = stageOf(options.stage, readSettings())
  const catalog = readSeedCatalog(options.catalog === undefined ? undefined : pathToFileURL(options.catalog))
  const aws = openAws(options.region)
  const region = await aws.findRegion().catch(() => {
    throw new Error('No AWS region is set. Set AWS_REGION, for example to us-east-1, or add --region.')
  })
  const plan = { aws: aws.at(region), stage, catalog }
  if (!(await passes(CREDENTIALS, plan))) {
    console.log('\nThe rest is looked at when there are credentials.')
    return false
  }
  let failures = 0
  for (const check of CHECKS) if (!(await passes(check, plan))) failures += 1
  console.log(failures === 0 ? '\nReady to deploy.' : `\n${failures} of ${CHECKS.length + 1} checks failed.`)
  return failures === 0
}

async function passes(check: Check, plan: Plan): Promise<boolean> {
  const outcome = await check.look(plan).catch((error) => explain(error, check))
  const advice = outcome.is === 'ok' ? '' : ` ${outcome.advice}`
  console.log(`${LABELS[outcome.is]} ${check.name}: ${outcome.what}.${advice}`)
  return outcome.is !== 'failed'
}

function explain({ name, message }: Error, { right }: Check): Outcome {
  if (name === 'CredentialsProviderError') {
    return failed('none were found', "Set AWS_PROFILE, or sign in with 'aws configure' or 'aws login'.")
  }
  const said = `${name}: ${message}`.replace(/\.$/, '')
  if (/ExpiredToken|InvalidClientTokenId|UnrecognizedClient|SignatureDoesNotMatch/.test(name)) {
    return failed(`AWS does not accept them (${said})`, 'Sign in again, and look at AWS_PROFILE.')
  }
  if (/AccessDenied|NotAuthorized|UnauthorizedOperation/.test(name)) {
    return failed(`it could not be looked at (${said})`, `Use credentials with the right ${right}.`)
  }
  return failed(`AWS did not say (${said})`, 'Try again.')
}
