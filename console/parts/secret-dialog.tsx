import { useEffect, useRef } from 'preact/hooks'
import type { KeyWithSecret } from '../../layers/admin/api/shapes/keys.ts'
import { BRAND } from '../../layers/gateway/names.ts'
import { type NewSecret, newSecret } from '../secret.ts'
import { identityHere } from '../session.ts'
import { shared } from '../shared.ts'
import { CopyButton, PrimaryButton } from './controls.tsx'
import { Dialog } from './dialog.tsx'

const shownSecret = shared<{ secret: string; of: string; baseUrl: string } | undefined>(undefined)

/** Shows a new secret, whose hash was sent, until the user confirms that it is stored, even if the page changes meanwhile. */
export function useNewSecret() {
  const { base_url: baseUrl } = identityHere()
  // Made once: after a lost answer the request is sent again with the same hash.
  const made = useRef<NewSecret | undefined>(undefined)
  return async (send: (told: NewSecret['told']) => Promise<KeyWithSecret>) => {
    made.current ??= await newSecret(BRAND.keyPrefix)
    const { secret, told } = made.current
    const { name } = await send(told)
    shownSecret.set({ secret, of: name, baseUrl })
  }
}

/** Stands above all pages, so that going back does not lose the only copy. */
export function SecretDialog() {
  const shown = shownSecret.use()
  useEffect(() => {
    if (!shown) return
    const asked = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', asked)
    return () => removeEventListener('beforeunload', asked)
  }, [shown])
  if (!shown) return null
  return (
    <Dialog title={`The secret of ${shown.of}`}>
      <p>
        It was made in this window and sent to nobody: the gateway has its hash only. When this dialog closes, nothing
        can show it any more.
      </p>
      <p>
        <code class="raised secret">{shown.secret}</code>
      </p>
      <p class="quiet">
        Base URL for SDKs: <code>{shown.baseUrl}</code>
      </p>
      <div class="row wrap actions">
        <CopyButton text={() => shown.secret} what="the secret" label="Copy the secret" />
        <PrimaryButton onClick={() => shownSecret.set(undefined)}>I have stored it</PrimaryButton>
      </div>
    </Dialog>
  )
}
