/** The addresses at which Bedrock speaks OpenAI's and Anthropic's formats, by the name for which requests to them are signed. */
const ORIGINS = {
  bedrock: (region: string) => `https://bedrock-runtime.${region}.amazonaws.com`,
  'bedrock-mantle': (region: string) => `https://bedrock-mantle.${region}.api.aws`,
}

type SigningName = keyof typeof ORIGINS

export const REGION = /^[a-z]{2}(-[a-z]+)+-\d$/
export const THIS_MACHINE = /^(127(\.\d+){3}|\[::1\]|localhost)$/

export function bedrockOrigins(region: string): string[] {
  return Object.values(ORIGINS).map((origin) => origin(region))
}

/** The name for which requests to this address are signed; undefined if nothing that is signed may be sent there. */
export function signingName(baseUrl: string, region: string): SigningName | undefined {
  const { origin, hostname } = new URL(baseUrl)
  if (THIS_MACHINE.test(hostname)) return 'bedrock'
  const [name] = Object.entries(ORIGINS).find(([, of]) => REGION.test(region) && of(region) === origin) ?? []
  return name as SigningName | undefined
}
