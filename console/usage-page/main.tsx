import { render } from 'preact'
import { useState } from 'preact/hooks'
import { BRAND } from '../../layers/gateway/names.ts'
import { ask } from '../api.ts'
import { Announcements, Button } from '../parts/controls.tsx'
import { Problem } from '../parts/page.tsx'
import { useSubmission } from '../parts/use-load.ts'
import { type ApiKey, connectWith } from './gateway.ts'
import { Panels } from './panels.tsx'

/** The key that was pasted is in the memory of this window only. */
function App() {
  const [apiKey, setKey] = useState<ApiKey | undefined>(undefined)
  const forget = () => {
    connectWith('')
    setKey(undefined)
  }
  return (
    <main>
      <header class="row wrap between title">
        <h1>Usage{apiKey && ` of ${apiKey.name}`}</h1>
        {apiKey && (
          <div class="row">
            <code>…{apiKey.key.last_four}</code>
            <Button onClick={forget}>Forget this key</Button>
          </div>
        )}
      </header>
      {apiKey ? <Panels apiKey={apiKey} /> : <KeyForm onOpened={setKey} />}
      <Announcements />
    </main>
  )
}

function KeyForm({ onOpened }: { readonly onOpened: (apiKey: ApiKey) => void }) {
  const [typed, setTyped] = useState('')
  const { isRunning, failure, run } = useSubmission()
  const open = (event: Event) => {
    event.preventDefault()
    connectWith(typed.trim())
    void run(async () => onOpened(await ask<ApiKey>('/key/introspect')))
  }
  return (
    <form class="panel" onSubmit={open}>
      <label class="field">
        <strong>Your key</strong>
        <input
          type="password"
          autocomplete="off"
          required
          placeholder={`${BRAND.keyPrefix}…`}
          value={typed}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
        <span class="quiet">Kept by this window only.</span>
      </label>
      <button class="primary" type="submit" disabled={isRunning}>
        Show usage
      </button>
      <Problem failure={failure} />
    </form>
  )
}

render(<App />, document.body)
