import { useState } from 'preact/hooks'
import { BRAND } from '../../layers/gateway/contract.ts'
import { Announcements } from '../parts/announce.tsx'
import { Button } from '../parts/button.tsx'
import { type ApiKey, ask, type Failure } from './ask.ts'
import { Models } from './models.tsx'
import { Requests } from './requests.tsx'
import { Balance } from './sums.tsx'

/** The key that was pasted, in the memory of this window only. */
type Opened = { readonly secret: string; readonly apiKey: ApiKey }

export function App() {
  const [opened, setOpened] = useState<Opened | undefined>(undefined)
  return (
    <main>
      <header>
        <h1>Usage{opened && <span class="name"> of {opened.apiKey.name}</span>}</h1>
        {opened && (
          <div class="actions">
            <code>…{opened.apiKey.key.last_four}</code>
            <Button onClick={() => setOpened(undefined)}>Forget this key</Button>
          </div>
        )}
      </header>
      {opened ? (
        <div class="parts">
          <Balance {...opened} />
          <Requests secret={opened.secret} />
          <Models secret={opened.secret} />
        </div>
      ) : (
        <KeyForm onOpened={setOpened} />
      )}
      <Announcements />
    </main>
  )
}

function KeyForm({ onOpened }: { readonly onOpened: (opened: Opened) => void }) {
  const [typed, setTyped] = useState('')
  const [failure, setFailure] = useState<Failure | undefined>(undefined)
  const [isAsking, setIsAsking] = useState(false)
  const open = async (event: Event) => {
    event.preventDefault()
    const secret = typed.trim()
    setIsAsking(true)
    try {
      onOpened({ secret, apiKey: await ask<ApiKey>(secret, 'key/introspect') })
    } catch (lost) {
      setFailure(lost as Failure)
      setIsAsking(false)
    }
  }
  return (
    <form class="panel" onSubmit={(event) => void open(event)}>
      <label for="key">Your key</label>
      <input
        id="key"
        type="password"
        autocomplete="off"
        spellcheck={false}
        required
        placeholder={`${BRAND.keyPrefix}…`}
        value={typed}
        onInput={({ currentTarget }) => setTyped(currentTarget.value)}
      />
      <button class="primary" type="submit" disabled={isAsking}>
        Show usage
      </button>
      <p class="quiet">
        The key stays in this window and is gone when you close or reload it. It is sent to this gateway only.
      </p>
      {failure && (
        <p class="notice" role="alert">
          {failure.message}
        </p>
      )}
    </form>
  )
}
