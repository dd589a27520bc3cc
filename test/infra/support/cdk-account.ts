import {
  ACCESS,
  type Asked,
  type AwsAccount,
  IDENTITY,
  json,
  noStack,
  type Reply,
  startAwsAccount,
  told,
  toolkit,
} from './aws-account.ts'

const ARN = 'arn:aws:cloudformation:eu-west-1:123456789012'

/** A caller and the roles that it assumes have the same keys: the account checks signatures by them. */
const READY = {
  GetCallerIdentity: IDENTITY,
  AssumeRole: told(
    'AssumeRole',
    `<Credentials><AccessKeyId>${ACCESS.AWS_ACCESS_KEY_ID}</AccessKeyId><SecretAccessKey>${ACCESS.AWS_SECRET_ACCESS_KEY}</SecretAccessKey>
<SessionToken>token</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration></Credentials>`,
  ),
  'DescribeStacks CDKToolkit': toolkit('30'),
  GetParameter: json({ Parameter: { Name: 'version', Value: '30' } }),
}

export type CdkAccount = AwsAccount & {
  /** The names are keys in the bucket. */
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
    uploads,
    changeSets,
    otherwise,
    replies: READY,
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
