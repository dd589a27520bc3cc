import { render } from 'preact'
import type { WhoAmI } from '../layers/admin/api/shapes/answers.ts'
import { connect } from './api.ts'
import { PageOf } from './page-of.tsx'
import { Announcements } from './parts/controls.tsx'
import { Page } from './parts/page.tsx'
import { Command, Loading } from './parts/panel.tsx'
import { Rail } from './parts/rail.tsx'
import { SecretDialog } from './parts/secret-dialog.tsx'
import { useLoad } from './parts/use-load.ts'
import { theme } from './preferences.ts'
import { usePageUrl } from './router.ts'
import { beginSession, endSession, hasEnded, identity, sessionToken } from './session.ts'

// The secret's dialog outlives the session: a server that ended must not take the only copy with it.
function App() {
  // The style sheet follows the system, unless the root has another theme.
  document.documentElement.style.colorScheme = theme.use().replace('auto', 'light dark')
  return (
    <>
      {hasEnded.use() || sessionToken() === null ? <SignIn /> : <SignedIn />}
      <SecretDialog />
      <Announcements />
    </>
  )
}

function SignedIn() {
  const url = usePageUrl()
  const known = useLoad<WhoAmI>('/whoami')
  identity.set(known.data)
  if (!known.data) {
    return (
      <main>
        <h1>Waybill</h1>
        <Loading of={known}>{() => null}</Loading>
      </main>
    )
  }
  return (
    <div class="frame">
      <Rail url={url} />
      <PageOf url={url} />
    </div>
  )
}

function SignIn() {
  identity.set(undefined)
  return (
    <Page title="Open the console from the command line">
      <p>This browser has not been signed in, or its console has ended. The command opens a window that is:</p>
      <p>
        <Command>console --local</Command>
      </p>
      <p class="quiet">
        For a deployed stage: <code>--stage dev</code> in place of <code>--local</code>. An address works once; after
        it, every tab of this browser is signed in until the console ends.
      </p>
    </Page>
  )
}

connect({
  base: '/admin/v1',
  headers: () => ({ 'X-Waybill-Console': sessionToken() ?? '' }),
  lost: 'No answer came: is the console still running?',
  onFailure: ({ code }) => {
    // The gateway may also refuse the playground's key, which does not end this session.
    if (code === 'invalid_console_token') endSession()
  },
})
await beginSession()
render(<App />, document.body)
