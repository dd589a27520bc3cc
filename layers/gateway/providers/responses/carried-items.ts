import type { JsonObject } from '../../domain/json-object.ts'
import { arePacked } from '../../wire/carried-thoughts.ts'
import { isObject } from '../../wire/field-rules.ts'

/**
 * The caller's items for an upstream that stores nothing: of the thoughts only those that the upstream itself has
 * encrypted. It refuses others, which it has never seen.
 */
export function carriedItems(items: readonly unknown[]): unknown[] {
  return items.filter((item) => !isObject(item) || item.type !== 'reasoning' || isEncrypted(item))
}

function isEncrypted({ encrypted_content: sealed }: JsonObject): boolean {
  return typeof sealed === 'string' && sealed !== '' && !arePacked(sealed)
}
