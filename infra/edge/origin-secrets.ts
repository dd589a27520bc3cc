import { Validations } from 'aws-cdk-lib'
import { Secret } from 'aws-cdk-lib/aws-secretsmanager'
import type { Construct } from 'constructs'
import { acceptedNumbers } from '../stages.ts'

/** References that CloudFormation resolves as it deploys: the secrets themselves are never in the template. */
type OriginSecrets = {
  readonly sent: string
  /** The secrets that the functions accept, separated by commas. */
  readonly accepted: string
}

/** Each number is a secret of its own: CloudFormation resolves a reference again only if the reference itself changes. */
export function originSecrets(scope: Construct, number: number): OriginSecrets {
  const secrets = new Map(acceptedNumbers(number).map((it) => [it, originSecret(scope, it)]))
  const sent = secrets.get(number)
  if (!sent) throw new Error(`originSecretNumber is ${number}: it must be a whole number from 1.`)
  return { sent, accepted: [...secrets.values()].join(',') }
}

function originSecret(scope: Construct, number: number): string {
  const secret = new Secret(scope, `OriginSecret${number}`, {
    description: 'With it the CloudFront distribution proves itself to the functions behind it',
    generateSecretString: { passwordLength: 48, excludePunctuation: true },
  })
  Validations.of(secret).acknowledge({
    id: 'AwsSolutions::AwsSolutions-SMG4',
    reason: 'A deployment rotates it, because the distribution and the functions have to learn of it: docs/deploy.md.',
  })
  return secret.secretValue.unsafeUnwrap()
}
