import type { CatalogFault } from '../../../catalog/parse-catalog.ts'
import type { CatalogData } from '../../gateway/domain/catalog.ts'
import { differingFields, providersOf } from './compare-catalogs.ts'

/**
 * The first provider that a catalog adds or changes, which an admin key may not. Every field counts, future ones too:
 * each decides who gets the provider's key and the prompts, or what the provider may bill.
 */
export function changedProvider(before: CatalogData | undefined, after: CatalogData): CatalogFault | undefined {
  const known = providersOf(before ?? { providers: {} })
  for (const [id, entry] of providersOf(after)) {
    const was = known.get(id)
    const fields = differingFields(was ?? {}, entry)
    if (fields.length > 0) return { path: `providers.${id}.${fields[0]}`, message: refusalOf(id, fields, !was) }
  }
  return undefined
}

function refusalOf(id: string, fields: readonly string[], isNew: boolean): string {
  const names = new Intl.ListFormat('en-GB').format(fields)
  const what = isNew ? `add the provider '${id}' with its ${names}` : `change ${names} of the provider '${id}'`
  return `An admin key may change models and their prices, but may not ${what}. Push it with the rights of AWS: 'waybill catalog push'.`
}
