import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { WhoAmI } from '../layers/admin/api/shapes/answers.ts'

/** The operator who works here, and the stage. */
export const Identity = createContext<WhoAmI | undefined>(undefined)

export function useIdentity(): WhoAmI {
  const identity = useContext(Identity)
  if (!identity) throw new Error('A page is shown only when it is known who looks at it.')
  return identity
}
