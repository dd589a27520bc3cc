import { useEffect, useRef, useState } from 'preact/hooks'
import { type ApiFailure, failureFrom, isAbort, request } from '../api.ts'
import { useIdentity } from '../identity.ts'
import { Button } from '../parts/button.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { Credits } from '../parts/credits.tsx'
import { Field, Select } from '../parts/field.tsx'
import { RequestLink } from '../parts/links.tsx'
import { Page } from '../parts/page.tsx'
import { Problem } from '../parts/problem.tsx'
import { readJson } from '../read-json.ts'
import { linkTo } from '../router.ts'
import { asCurl, asSdkCode } from './playground/as-code.ts'
import { readAnswer } from './playground/read-answer.ts'

type Answer = {
  readonly isRunning: boolean
  readonly text: string
  readonly requestId: string | null
  readonly cost?: string | undefined
  readonly isStopped?: boolean
}

const NOTHING: Answer = { isRunning: true, text: '', requestId: null }

export function Playground() {
  const { base_url } = useIdentity()
  const [models, setModels] = useState<readonly string[] | undefined>(undefined)
  const [model, setModel] = useState('')
  const [message, setMessage] = useState('Say hello in five words.')
  const [answer, setAnswer] = useState<Answer | undefined>(undefined)
  const [failure, setFailure] = useState<ApiFailure | undefined>(undefined)
  const running = useRef<AbortController | undefined>(undefined)

  useEffect(() => {
    const load = async () => {
      const response = await request('/console/playground/models')
      const { data } = await readJson<{ data: readonly { id: string }[] }>(response)
      setModels(data.map(({ id }) => id))
      setModel(data[0]?.id ?? '')
    }
    load().catch((error) => setFailure(failureFrom(error)))
    return () => running.current?.abort()
  }, [])

  const send = async () => {
    const own = new AbortController()
    running.current = own
    let now = NOTHING
    const show = (changes: Partial<Answer>) => {
      now = { ...now, ...changes }
      setAnswer(now)
    }
    setFailure(undefined)
    show({})
    try {
      const response = await request('/console/playground/chat/completions', {
        method: 'POST',
        body: {
          model,
          messages: [{ role: 'user', content: message }],
          stream: true,
        },
        signal: own.signal,
      })
      show({ requestId: response.headers.get('X-Request-Id') })
      for await (const { text, cost } of readAnswer(response)) show({ text: now.text + text, cost: cost ?? now.cost })
      show({ isRunning: false })
    } catch (error) {
      show({ isRunning: false, isStopped: isAbort(error) })
      if (!isAbort(error)) setFailure(failureFrom(error))
    }
  }
  const asked = { baseUrl: base_url, model, message }
  return (
    <Page title="Playground">
      {models?.length === 0 && (
        <p class="empty">
          The catalog has no active model: <strong>Put in force</strong> on the page{' '}
          <a href={linkTo(['catalog'])}>Catalog</a> changes it.
        </p>
      )}
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void send()
        }}
      >
        <Select label="Model" value={model} onChange={setModel} options={(models ?? []).map((id) => [id, id])} />
        <Field label="Message" value={message} onInput={setMessage} rows={4} required />
        <div class="actions">
          {answer?.isRunning ? (
            <Button onClick={() => running.current?.abort()}>Stop</Button>
          ) : (
            <button type="submit" class="primary" disabled={!model}>
              Send
            </button>
          )}
          <CopyButton text={() => asCurl(asked)} what="the request for curl" label="Copy as curl" />
          <CopyButton text={() => asSdkCode(asked)} what="the request for the SDK" label="Copy as SDK code" />
        </div>
      </form>
      <Problem failure={failure} />
      {answer && <Answered of={answer} />}
      <p class="quiet">
        The key of the playground is made for this console, holds 1 credit and is revoked when it ends.
      </p>
    </Page>
  )
}

function Answered({ of: { text, isRunning, requestId, cost, isStopped } }: { readonly of: Answer }) {
  return (
    <section aria-label="Answer" aria-busy={isRunning}>
      <h2>Answer</h2>
      <pre class="answer">{text}</pre>
      <p role="status">
        {isRunning && 'Answering…'}
        {isStopped && 'Stopped: what was delivered until then is charged. '}
        {!isRunning && cost !== undefined && (
          <>
            Cost <Credits of={cost} /> credits.{' '}
          </>
        )}
        {!isRunning && requestId !== null && (
          <>
            Its waybill: <RequestLink id={requestId} />
          </>
        )}
      </p>
    </section>
  )
}
