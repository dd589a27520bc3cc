const LONGEST_ADDRESS = 8_192

/** The reason why an upstream may not be given this address of a medium; undefined if it may. */
export function addressFault(address: string): string | undefined {
  if (/^data:/i.test(address)) return undefined
  if (!/^https:\/\//i.test(address) || address.length > LONGEST_ADDRESS || !URL.canParse(address)) {
    return `must be a data: URL, or an https address of at most ${LONGEST_ADDRESS} characters`
  }
  const { hostname, username, password } = new URL(address)
  if (username !== '' || password !== '') return 'must be an https address without a name and a password'
  return isPublicName(hostname) ? undefined : 'must be an https address with the name of a public host'
}

/** An upstream inside the operator's network must not be sent to its neighbours. */
function isPublicName(host: string): boolean {
  return /\.[a-z][a-z0-9-]*\.?$/i.test(host) && !/(?:^|\.)(?:localhost|local|internal|home|lan|arpa)\.?$/i.test(host)
}
