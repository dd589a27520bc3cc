/** In a provider's `baseUrl`: the echo upstream that `npm start` brings along. */
const ECHO = 'local:echo'

/** For JSON.parse: puts the address of the echo upstream in its place, where there is one. */
export function namingEcho(echoUrl = ECHO): (name: string, value: unknown) => unknown {
  return (name, value) => (name === 'baseUrl' && value === ECHO ? echoUrl : value)
}
