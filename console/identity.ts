import type { WhoAmI } from '../layers/admin/api/shapes/answers.ts'

let identity: WhoAmI | undefined

/** Set before a page is shown to somebody, and undefined for nobody. */
export function setIdentity(known: WhoAmI | undefined): void {
  identity = known
}

export function isSignedIn(): boolean {
  return identity !== undefined
}

/** The operator who works here, and the stage. */
export function identityHere(): WhoAmI {
  if (!identity) throw new Error('A page is shown only when it is known who looks at it.')
  return identity
}
