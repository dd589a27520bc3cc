import { readProfile } from '../config.ts'

// The troubles between an operator and AWS, by the names that AWS and its SDK give to them, with advice for each.

/** The trouble as the end of a sentence, and the advice as a sentence of its own. */
export type Trouble = { readonly what: string; readonly advice: string }

type Failure = { readonly name: string; readonly message: string; readonly code: string }

type Row = {
  readonly is: (failure: Failure) => boolean
  readonly what: string | ((failure: Failure) => string)
  readonly advice: string
}

const UNREACHED =
  /^(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT|EPIPE|UND_ERR_\w+|TimeoutError|fetch failed)$/
const NOT_ACCEPTED =
  /^(?:InvalidClientTokenId|UnrecognizedClient|SignatureDoesNotMatch|InvalidSignature|InvalidAccessKeyId|IncompleteSignature|AuthFailure|MissingAuthenticationToken)/
const SIGN_IN =
  "Sign in again with 'aws login' or 'aws sso login', or renew the variables AWS_ACCESS_KEY_ID and its like"
const EXPIRED = { what: 'the AWS credentials have expired', advice: `${SIGN_IN}.` }

const isOfCredentials = ({ name }: Failure) => name === 'CredentialsProviderError' || name === 'TokenProviderError'

/** In this order: an SDK's message about credentials may also mention a region or a connection. */
const ROWS: readonly Row[] = [
  { is: (failure) => isOfCredentials(failure) && /expired|refresh/i.test(failure.message), ...EXPIRED },
  {
    is: (failure) => isOfCredentials(failure) && readProfile() !== undefined,
    what: () => `the profile '${readProfile()}' of AWS_PROFILE has no AWS credentials, or does not exist`,
    advice: "'aws configure list-profiles' lists those that do.",
  },
  {
    is: isOfCredentials,
    what: 'no AWS credentials were found',
    advice: "Set AWS_PROFILE, or sign in with 'aws configure' or 'aws login'.",
  },
  {
    is: ({ message }) => /region (?:is missing|not accepted)/i.test(message),
    what: 'no AWS region is set, or not a valid one',
    advice: 'Set AWS_REGION to the region of the deployment, for example us-east-1.',
  },
  {
    is: ({ name, message }) => /TooSkewed/.test(name) || /signature (?:expired|not yet current)/i.test(message),
    what: 'the clock of this machine is wrong, and AWS refuses its signatures',
    advice: 'Set the clock.',
  },
  { is: ({ name }) => /^(?:ExpiredToken|RequestExpired)/.test(name), ...EXPIRED },
  {
    is: ({ name }) => NOT_ACCEPTED.test(name),
    what: ({ name }) => `AWS does not accept the credentials (${name})`,
    advice: `${SIGN_IN}; look at AWS_PROFILE.`,
  },
  {
    is: ({ name }) => /^AccessDenied/.test(name),
    what: ({ message }) => `these AWS credentials may not do this (${message.trim()})`,
    advice: 'Use others, or have this right added.',
  },
  {
    is: ({ code }) => UNREACHED.test(code),
    what: ({ code, message }) => `AWS cannot be reached (${code}${hostIn(message)})`,
    advice: 'Look at the network and its proxy, and whether AWS_REGION names a region.',
  },
]

function hostIn(message: string): string {
  const [host] = /[\w-]+(?:\.[\w-]+)*\.amazonaws\.com(?:\.cn)?|\d+\.\d+\.\d+\.\d+:\d+/.exec(message) ?? []
  return host === undefined ? '' : ` ${host}`
}

/** Undefined for any other error. */
export function awsTrouble(error: unknown): Trouble | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  const { name = '', message = '', cause } = error as Partial<Error>
  // Node's fetch has the reason inside.
  const { code = message === 'fetch failed' ? message : name, message: why = message } = (cause ?? error) as {
    readonly code?: string
    readonly message?: string
  }
  const failure = { name, message: why, code: String(code) }
  const row = ROWS.find(({ is }) => is(failure))
  return row && { what: typeof row.what === 'string' ? row.what : row.what(failure), advice: row.advice }
}

export function troubleLine({ what, advice }: Trouble): string {
  return `${what.charAt(0).toUpperCase()}${what.slice(1)}. ${advice}`
}
