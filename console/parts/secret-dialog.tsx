import { useEffect, useState } from 'preact/hooks'
import { Button } from './button.tsx'
import { CopyButton } from './copy-button.tsx'
import { Dialog } from './dialog.tsx'

const SHOWN = 'waybill:secret'

type Shown = { readonly secret: string; readonly of: string; readonly baseUrl: string }

/** Shows a new secret until the user confirms that it is stored, even if the page changes meanwhile. */
export function showSecret(shown: Shown): void {
  dispatchEvent(new CustomEvent(SHOWN, { detail: shown }))
}

/** Stands above all pages, so that going back does not lose the only copy. */
export function SecretDialog() {
  const [shown, setShown] = useState<Shown | undefined>(undefined)
  useEffect(() => {
    const heard = (event: Event) => setShown((event as CustomEvent<Shown>).detail)
    addEventListener(SHOWN, heard)
    return () => removeEventListener(SHOWN, heard)
  }, [])
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
        <code class="secret">{shown.secret}</code>
      </p>
      <p class="quiet">
        Base URL for SDKs: <code>{shown.baseUrl}</code>
      </p>
      <div class="actions">
        <CopyButton text={() => shown.secret} what="the secret" label="Copy the secret" />
        <Button class="primary" onClick={() => setShown(undefined)}>
          I have stored it
        </Button>
      </div>
    </Dialog>
  )
}
