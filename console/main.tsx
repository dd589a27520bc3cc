import { render } from 'preact'
import { App } from './app.tsx'
import { beginSession } from './session.ts'
import { applyTheme } from './theme.ts'

applyTheme()
await beginSession()
render(<App />, document.body)
