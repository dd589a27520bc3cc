import { AdminError } from './admin-error.ts'
import type { Call } from './call.ts'

/** The version in If-Match, to which the change is to be made. */
export function expectedVersionOf({ headers }: Call): number {
  const text = headers['if-match']
  if (text === undefined) {
    throw new AdminError(
      'version_required',
      'This needs the header If-Match with the version that you have seen, such as "7", so that no change of somebody else is lost.',
    )
  }
  const [, digits] = /^"(\d{1,15})"$/.exec(text) ?? []
  if (digits === undefined)
    throw new AdminError('invalid_request', 'If-Match must be a version in quotes, such as "7".')
  return Number(digits)
}

export function versionTag(version: number): { readonly ETag: string } {
  return { ETag: `"${version}"` }
}
