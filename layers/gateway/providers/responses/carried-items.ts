import type { JsonObject } from '../../domain/basics/json-object.ts'
import { isObject } from '../../wire/basics/field-rules.ts'
import { arePacked } from '../../wire/chat/carried-thoughts.ts'

/** The caller's items for an upstream that stores nothing. It refuses thoughts that it has not encrypted itself. */
export function carriedItems(items: readonly unknown[]): unknown[] {
  return items.filter((item) => !isObject(item) || item.type !== 'reasoning' || isEncrypted(item))
}

function isEncrypted({ encrypted_content: sealed }: JsonObject): boolean {
  return typeof sealed === 'string' && sealed !== '' && !arePacked(sealed)
}
