import { apiKeyOf, type CatalogData } from '../../gateway/domain/routing/catalog.ts'
import type { Administered } from '../api/call.ts'

/** DynamoDB keeps no item above 400 KB. The text in JSON is longer than the item, which has no punctuation between fields. */
export const MOST_CATALOG_BYTES = 400 * 1024 - 1024

export function catalogRefusal({ echoUrl }: Pick<Administered, 'echoUrl'>, catalog: CatalogData): string | undefined {
  return (echoUrl === undefined ? variableRefusal(catalog) : undefined) ?? sizeRefusal(catalog)
}

function sizeRefusal(catalog: CatalogData): string | undefined {
  const bytes = Buffer.byteLength(JSON.stringify(catalog))
  if (bytes <= MOST_CATALOG_BYTES) return undefined
  return `The catalog has ${Math.ceil(bytes / 1024)} KB, and at most ${Math.floor(MOST_CATALOG_BYTES / 1024)} KB can be kept. Take out models that nobody asks.`
}

/** Kept beside the catalog, in one item with it; undefined if that would be too long. */
export function sourceOf(sent: object, catalog: CatalogData): string | undefined {
  const source = JSON.stringify(sent)
  const bytes = Buffer.byteLength(source) + Buffer.byteLength(JSON.stringify(catalog))
  return bytes <= MOST_CATALOG_BYTES ? source : undefined
}

/** A function in AWS does not have the operator's variables. */
function variableRefusal({ providers }: CatalogData): string | undefined {
  for (const [id, entry] of Object.entries(providers)) {
    const apiKey = apiKeyOf(entry)
    if (!apiKey?.startsWith('env:')) continue
    return `The key of provider '${id}' is ${apiKey}, but a stage has its keys in Secrets Manager: secret:NAME.`
  }
  return undefined
}

/** The `baseUrl` of the echo upstream that `npm start` brings along. */
const ECHO = 'local:echo'

/** Replaces the placeholder by the address of the echo upstream, if there is one; JSON.parse takes it. */
export function namingEcho(echoUrl = ECHO): (name: string, value: unknown) => unknown {
  return (name, value) => (name === 'baseUrl' && value === ECHO ? echoUrl : value)
}
