import { OUTPUTS, stackName } from '../../layers/gateway/contract.ts'
import { documentOf } from '../../operator/terminal/how-to-run.ts'
import type { Stage } from '../stages.ts'
import type { Aws } from './aws.ts'
import { type Check, failed, type Outcome, ok, unknown } from './check.ts'

/** More distributions than an account may have, unless AWS was asked for more. */
const LIST = '/2020-05-31/distribution?MaxItems=500'

export const CLOUDFRONT: Check = {
  name: 'cloudfront',
  right: 'cloudfront:ListDistributions',
  async look({ aws, stage }) {
    if (!stage.edge) return ok('the stage has none by its settings')
    const distributions = (await aws.ask('cloudfront', { path: LIST })).split('<DistributionSummary>').slice(1)
    const taken = await whoHasTheDomain(aws, stage, distributions)
    if (taken) return taken
    if (distributions.length > 0) return ok('the account has a distribution already, so it may have another')
    return unknown(
      'the account has no distribution yet; AWS refuses new accounts until it has verified them, and says so only when one is made',
      `If the deployment fails with 'Your account must be verified', send that message to AWS Support (account and billing questions are free), or deploy without CloudFront (${documentOf('deploy.md')}).`,
    )
  },
}

/** A domain name can belong to one distribution only: another stage, or the same one in another region, may have it. */
async function whoHasTheDomain(
  aws: Aws,
  { name, domain }: Stage,
  distributions: readonly string[],
): Promise<Outcome | undefined> {
  if (!domain) return undefined
  const owner = distributions.find((summary) => summary.includes(`<CNAME>${domain.name}</CNAME>`))
  const address = owner && /<DomainName>([^<]+)</.exec(owner)?.[1]
  if (!address) return undefined
  const stack = await aws.stack(stackName(name))
  const own = stack?.Outputs?.find(({ OutputKey }) => OutputKey === OUTPUTS.edgeDomain)?.OutputValue
  if (own === address) return undefined
  return failed(
    `the domain ${domain.name} belongs to another distribution of this account (${address}), which may be this stage in another region`,
    'Give the stage another domain, or take it from the other one first.',
  )
}
