import { type JsonObject, parseJson } from '../basics/json-object.ts'
import { shellWord } from '../basics/shell-word.ts'
import { UpstreamFailure } from './upstream-failure.ts'

/** A provider's key, and the hosts that it may be sent to, as the maker of the secret has listed them. */
export type ProviderSecret = { readonly key: string; readonly hosts: readonly string[] }

/** The reason why a secret is sent nowhere. It repeats nothing of the secret. */
export type SecretFault = { readonly fault: string }

const MOST_HOSTS = 20
const KEY = /^[\x21-\x7e]{1,8192}$/

/** A secret as Secrets Manager has it: `{"key": "sk-…", "hosts": ["api.openai.com"]}`. */
export function parseProviderSecret(text: string): ProviderSecret | SecretFault {
  const { key, hosts } = (parseJson(text) ?? {}) as JsonObject
  if (key === undefined && hosts === undefined) return { fault: 'is not a JSON object with "key" and "hosts"' }
  if (typeof key !== 'string' || !KEY.test(key)) return { fault: 'has no "key" of visible ASCII without spaces' }
  if (!Array.isArray(hosts) || hosts.length === 0 || hosts.length > MOST_HOSTS) {
    return { fault: `has no "hosts" with 1 to ${MOST_HOSTS} host names` }
  }
  const known = hosts.map(hostOf)
  const wrong = known.indexOf(undefined)
  if (wrong >= 0) return { fault: `has in "hosts" at place ${wrong + 1} neither a host name nor a *.example.com` }
  return { key, hosts: known as string[] }
}

/** The key of a secret for the provider at this address. Throws an UpstreamFailure if that provider may not have it. */
export function keyFor(name: string, secret: ProviderSecret | SecretFault, baseUrl: string): string {
  const { host } = new URL(baseUrl)
  if ('fault' in secret) throw notSent(name, secret.fault, host)
  const { key, hosts } = secret
  const isAllowed = (one: string) => (one.startsWith(WILDCARD) ? host.endsWith(one.slice(1)) : host === one)
  if (hosts.some(isAllowed)) return key
  throw notSent(name, `does not name ${host} in its "hosts"`, host)
}

function notSent(name: string, fault: string, host: string): UpstreamFailure {
  const wanted = `{"key": "THE KEY", "hosts": [${JSON.stringify(host)}]}`
  return new UpstreamFailure(
    'credential',
    `The secret ${name} ${fault}, so it is sent nowhere. If it is for this provider: aws secretsmanager put-secret-value --secret-id ${shellWord(name)} --secret-string ${shellWord(wanted)}`,
  )
}

const WILDCARD = '*.'

/** A host as URLs have it, in lower case and without the port of https, or the names below a domain. */
function hostOf(text: unknown): string | undefined {
  if (typeof text !== 'string' || !/^(\*\.)?[a-z0-9.:[\]-]{1,253}$/i.test(text)) return undefined
  const isWildcard = text.startsWith(WILDCARD)
  const url = `https://${isWildcard ? text.slice(WILDCARD.length) : text}`
  if (!URL.canParse(url)) return undefined
  const { host } = new URL(url)
  if (!isWildcard) return host
  // A whole top-level domain is everybody's.
  return /\.[a-z][a-z0-9-]*$/.test(host) ? `${WILDCARD}${host}` : undefined
}
