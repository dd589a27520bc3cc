import { expect, test } from '@jest/globals'
import { awsTrouble, troubleLine } from '../../../layers/gateway/platform/aws/trouble.ts'

const told = (name: string, message: string, more: object = {}) => Object.assign(new Error(message), { name, ...more })
const unreached = (code: string, host: string) => told('Error', `getaddrinfo ${code} ${host}`, { code })

test.each<[string, unknown, RegExp]>([
  ['no credentials', told('CredentialsProviderError', 'Could not load credentials from any providers'), /^No AWS cred/],
  [
    'an expired sign-in',
    told('CredentialsProviderError', 'The SSO session has expired.'),
    /^The AWS credentials have ex/,
  ],
  ['an expired token', told('ExpiredTokenException', 'The security token is expired'), /expired\. Sign in again/],
  ['an unknown key', told('UnrecognizedClientException', 'The token is invalid'), /does not accept the credentials/],
  ['a wrong clock', told('SignatureDoesNotMatch', 'Signature expired: 1 is now earlier'), /clock.*Set the clock\.$/],
  ['no region', told('Error', 'Region is missing'), /^No AWS region is set/],
  [
    'no name server',
    unreached('EAI_AGAIN', 'sts.us-east-1.amazonaws.com'),
    /\(EAI_AGAIN sts\.us-east-1\.amazonaws\.com\)/,
  ],
  [
    'no such host',
    new TypeError('fetch failed', { cause: unreached('ENOTFOUND', 'x') }),
    /reached \(ENOTFOUND\)\. Look/,
  ],
  [
    'no answer',
    told('TimeoutError', 'The operation was aborted due to timeout'),
    /^AWS cannot be reached \(TimeoutError\)/,
  ],
  [
    'no right',
    told('AccessDenied', 'User: ada is not authorized'),
    /may not do this \(User: ada is not authorized\)\./,
  ],
])('%s is told in one line that says what to do', (_, error, says) => {
  const trouble = awsTrouble(error)
  const line = trouble ? troubleLine(trouble) : ''
  expect(line).toMatch(says)
  expect(line).toMatch(/^[A-Z'].*\. [A-Z'].*\.$/)
})

test.each([told('ValidationError', 'Stack with id X does not exist'), new Error('x'), 'x', undefined])(
  'an error of another kind is none of them',
  (error) => {
    expect(awsTrouble(error)).toBeUndefined()
  },
)
