import { useEffect, useState } from 'preact/hooks'
import type { WhoAmI } from '../layers/admin/api/shapes/answers.ts'
import { Identity } from './identity.ts'
import { pageOf } from './page-of.tsx'
import { SignIn } from './pages/sign-in.tsx'
import { Announcements } from './parts/announce.tsx'
import { Header } from './parts/header.tsx'
import { Problem } from './parts/problem.tsx'
import { SecretDialog } from './parts/secret-dialog.tsx'
import { useLoad } from './parts/use-load.ts'
import { usePageUrl } from './router.ts'
import { SIGNED_OUT, sessionToken } from './session.ts'

export function App() {
  const [token, setToken] = useState(sessionToken)
  useEffect(() => {
    const left = () => setToken(null)
    addEventListener(SIGNED_OUT, left)
    return () => removeEventListener(SIGNED_OUT, left)
  }, [])
  // The secret's dialog outlives the session: a server that ended must not take the only copy with it.
  return (
    <>
      {token === null ? <SignIn /> : <SignedIn />}
      <SecretDialog />
      <Announcements />
    </>
  )
}

function SignedIn() {
  const url = usePageUrl()
  const identity = useLoad<WhoAmI>('/whoami')
  if (!identity.data) {
    return (
      <main>
        <h1>Waybill</h1>
        {identity.failure ? (
          <Problem failure={identity.failure} again={() => void identity.reload()} />
        ) : (
          <p>Loading…</p>
        )}
      </main>
    )
  }
  return (
    <Identity.Provider value={identity.data}>
      <Header url={url} />
      {pageOf(url)}
    </Identity.Provider>
  )
}
