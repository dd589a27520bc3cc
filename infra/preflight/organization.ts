import { stackName } from '../../layers/gateway/contract.ts'
import { documentOf } from '../../operator/terminal/how-to-run.ts'
import { US_EAST_1 } from '../stages.ts'
import { type Check, ok, unknown } from './check.ts'

const DESCRIBE = { path: '/', json: '{}', target: 'AWSOrganizationsV20161128.DescribeOrganization', region: US_EAST_1 }

/**
 * Many organisations deny Function URLs that ask for no AWS signature. Their policies are kept in
 * another account, so an account in an organisation is told what to ask for.
 */
export const ORGANIZATION: Check = {
  name: 'organization',
  right: 'organizations:DescribeOrganization',
  async look({ aws, stage }) {
    const state = await aws.ask('organizations', DESCRIBE).then(
      () => 'the account is in an organisation',
      ({ name }: Error) => (name === ALONE ? ALONE : `the account may be in an organisation (${name})`),
    )
    if (state === ALONE) return ok('the account is in none, so no policy of one forbids the Function URL of chat')
    return unknown(
      `${state}, whose service control policies cannot be seen from here, and may forbid Function URLs with AuthType NONE, which chat needs`,
      `If the deployment fails with an explicit deny, ask those who keep the policies for lambda:CreateFunctionUrlConfig, lambda:UpdateFunctionUrlConfig and lambda:AddPermission on arn:aws:lambda:*:*:function:${stackName(stage.name)}-FunctionsChat* (${documentOf('deploy.md')}).`,
    )
  },
}

const ALONE = 'AWSOrganizationsNotInUseException'
