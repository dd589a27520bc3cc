import { ACCESS, type Asked, type AwsAccount, type Reply, startAwsAccount } from './aws-account.ts'

const ACCOUNT = '123456789012'
const ARN = `arn:aws:cloudformation:eu-west-1:${ACCOUNT}`

const told = (action: string, result: string): Reply => ({
  body: `<${action}Response><${action}Result>${result}</${action}Result></${action}Response>`,
})

/** A caller and the roles that it assumes have the same keys: the account checks signatures by them. */
const IDENTITY = {
  GetCallerIdentity: told(
    'GetCallerIdentity',
    `<Arn>arn:aws:iam::${ACCOUNT}:user/ada</Arn><Account>${ACCOUNT}</Account>`,
  ),
  AssumeRole: told(
    'AssumeRole',
    `<Credentials><AccessKeyId>${ACCESS.AWS_ACCESS_KEY_ID}</AccessKeyId><SecretAccessKey>${ACCESS.AWS_SECRET_ACCESS_KEY}</SecretAccessKey>
<SessionToken>token</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration></Credentials>`,
  ),
}

const BOOTSTRAP = {
  'DescribeStacks CDKToolkit': told(
    'DescribeStacks',
    `<Stacks><member><StackName>CDKToolkit</StackName><CreationTime>2026-11-15T00:00:00Z</CreationTime>
<StackStatus>CREATE_COMPLETE</StackStatus><Outputs><member><OutputKey>BootstrapVersion</OutputKey>
<OutputValue>30</OutputValue></member></Outputs></member></Stacks>`,
  ),
  GetParameter: { body: JSON.stringify({ Parameter: { Name: 'version', Value: '30' } }) },
}

/** In the words by which `cdk` knows it. */
export const noStack = (name: string): Reply => ({
  status: 400,
  body: `<ErrorResponse><Error><Code>ValidationError</Code><Message>Stack with id ${name} does not exist</Message></Error></ErrorResponse>`,
})

export type CdkAccount = AwsAccount & {
  /** By their keys in the bucket. */
  readonly uploads: Map<string, Buffer>
  /** The parameters of each. */
  readonly changeSets: URLSearchParams[]
}

/** An account that is bootstrapped and has no other stack. `cdk deploy` gets as far as its change set there. */
export async function startCdkAccount(): Promise<CdkAccount> {
  const uploads = new Map<string, Buffer>()
  const changeSets: URLSearchParams[] = []
  const otherwise = ({ name, body }: Asked): Reply | undefined => {
    const [action = '', stack = ''] = name.split(' ')
    if (action === 'CreateChangeSet') {
      changeSets.push(new URLSearchParams(body.toString()))
      return told('CreateChangeSet', `<Id>${ARN}:changeSet/c/1</Id><StackId>${ARN}:stack/s/1</StackId>`)
    }
    if (action === 'DescribeChangeSet') return told('DescribeChangeSet', '<Status>CREATE_COMPLETE</Status>')
    if (action === 'DescribeStacks') return noStack(stack)
    return inBucket(name, body)
  }
  const inBucket = (name: string, body: Buffer): Reply | undefined => {
    const [, key] = /^PUT \/[\w-]+\/([\w.]+)\?/.exec(name) ?? []
    if (key) {
      uploads.set(key, body)
      return { body: '' }
    }
    return BUCKET.find(([asked]) => asked.test(name))?.[1]
  }
  return Object.assign(await startAwsAccount(), {
    ...{ uploads, changeSets, otherwise },
    replies: { ...IDENTITY, ...BOOTSTRAP },
  })
}

/** It has nothing yet. */
const BUCKET: readonly (readonly [asked: RegExp, Reply])[] = [
  [/\?list-type=/, { body: '<ListBucketResult><KeyCount>0</KeyCount></ListBucketResult>' }],
  [/\?location=$/, { body: '<LocationConstraint>eu-west-1</LocationConstraint>' }],
  [
    /\?encryption=$/,
    {
      body: `<ServerSideEncryptionConfiguration><Rule><ApplyServerSideEncryptionByDefault><SSEAlgorithm>AES256</SSEAlgorithm>
</ApplyServerSideEncryptionByDefault></Rule></ServerSideEncryptionConfiguration>`,
    },
  ],
]
