import { keyFor, namedSecrets, parseProviderSecret } from '../../layers/gateway/domain/routing/provider-secret.ts'
import { secretName } from '../../layers/gateway/names.ts'
import type { Aws } from './aws.ts'
import { type Check, failed, ok, unknown } from './check.ts'

/** Fails if a provider of the first catalog may not have its key. A secret may be made after the deployment, too. */
export const PROVIDER_SECRETS: Check = {
  name: 'secrets',
  right: 'secretsmanager:GetSecretValue',
  async look({ aws, stage, catalog }) {
    const missing: string[] = []
    const faults: string[] = []
    const secrets = namedSecrets(catalog)
    for (const { name: short, baseUrl } of secrets) {
      const name = secretName(stage.name, short)
      const text = await readSecret(aws, name)
      if (text === undefined) missing.push(`${name} for ${new URL(baseUrl).host}`)
      else faults.push(...faultOf(name, text, baseUrl))
    }
    if (faults.length > 0) return failed('a key would be sent nowhere', faults.join(' '))
    if (missing.length > 0) return unknown(`there is no ${missing.join(' and no ')} yet`, HOW_TO_MAKE)
    return ok(secrets.length > 0 ? 'each may be sent to its provider' : 'the catalog names none')
  },
}

const HOW_TO_MAKE = `Before the first request: aws secretsmanager create-secret --name NAME --secret-string '{"key": "THE KEY", "hosts": ["THE HOST"]}'`

async function readSecret(aws: Aws, SecretId: string): Promise<string | undefined> {
  const call = { path: '/', json: JSON.stringify({ SecretId }), target: 'secretsmanager.GetSecretValue' }
  try {
    const { SecretString } = JSON.parse(await aws.ask('secretsmanager', call)) as { SecretString?: string }
    return SecretString
  } catch (error) {
    if ((error as Error).name === 'ResourceNotFoundException') return undefined
    throw error
  }
}

function faultOf(name: string, text: string, baseUrl: string): string[] {
  try {
    keyFor(name, parseProviderSecret(text), baseUrl)
    return []
  } catch (error) {
    return [(error as Error).message]
  }
}
