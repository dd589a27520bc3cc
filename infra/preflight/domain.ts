import { OUTPUTS, stackName } from '../../layers/gateway/names.ts'
import { type Check, failed, ok } from './check.ts'

/** More distributions than an account may have, unless AWS was asked for more. */
const LIST = '/2020-05-31/distribution?MaxItems=500'

/** A domain name can belong to one distribution only: another stage, or the same one in another region, may have it. */
export const DOMAIN: Check = {
  name: 'domain',
  right: 'cloudfront:ListDistributions',
  async look({ aws, stage: { name, domain } }) {
    if (!domain) return ok('the stage has none by its settings')
    const distributions = (await aws.ask('cloudfront', { path: LIST })).split('<DistributionSummary>')
    const owner = distributions.find((summary) => summary.includes(`<CNAME>${domain.name}</CNAME>`))
    const address = owner && /<DomainName>([^<]+)</.exec(owner)?.[1]
    if (!address) return ok(`no distribution has ${domain.name}`)
    const stack = await aws.stack(stackName(name))
    const own = stack?.Outputs?.find(({ OutputKey }) => OutputKey === OUTPUTS.edgeDomain)?.OutputValue
    if (own === address) return ok(`the stage has ${domain.name}`)
    return failed(
      `the domain ${domain.name} belongs to another distribution of this account (${address}), which may be this stage in another region`,
      'Give the stage another domain, or take it from the other one first.',
    )
  },
}
