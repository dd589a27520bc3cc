import { render } from 'preact'
import { connect } from './api.ts'
import { App } from './app.tsx'
import { applyTheme } from './preferences.ts'
import { beginSession, endSession, sessionToken } from './session.ts'

connect({
  base: '/admin/v1',
  headers: () => ({ 'X-Waybill-Console': sessionToken() ?? '' }),
  lost: 'No answer came: is the console still running?',
  onFailure: ({ code }) => {
    // The gateway may also refuse the playground's key, which does not end this session.
    if (code === 'invalid_console_token') endSession()
  },
})
applyTheme()
await beginSession()
render(<App />, document.body)
