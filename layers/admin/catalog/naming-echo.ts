/** The `baseUrl` of the echo upstream that `npm start` brings along. */
const ECHO = 'local:echo'

/** For JSON.parse: replaces the placeholder by the address of the echo upstream, if there is one. */
export function namingEcho(echoUrl = ECHO): (name: string, value: unknown) => unknown {
  return (name, value) => (name === 'baseUrl' && value === ECHO ? echoUrl : value)
}
