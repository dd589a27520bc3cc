import { useState } from 'preact/hooks'
import type { CatalogShape } from '../../layers/admin/api/shapes/catalog.ts'
import { type ApiFailure, failureFrom, isAbort, request } from '../api.ts'
import { Button, CopyButton, Field, Select } from '../parts/controls.tsx'
import { type Model, modelsIn } from '../parts/models.ts'
import { counted } from '../parts/numbers.ts'
import { Facts, Loading, Page, Panel, Problem } from '../parts/page.tsx'
import { useDraft } from '../parts/use-draft.ts'
import { useLatest, useLoad } from '../parts/use-load.ts'
import { Credits, RequestLink, Took } from '../parts/values.tsx'
import { linkTo } from '../router.ts'
import { identityHere } from '../session.ts'
import { asCurl, asSdkCode, type ChatBody } from './playground/as-code.ts'
import { readAnswer } from './playground/read-answer.ts'

const NOTHING: Answer = { isRunning: true, text: '', requestId: null }
const UNTYPED = { model: '', system: '', message: 'Say hello in five words.', temperature: '', most: '' }

type Typed = Readonly<typeof UNTYPED>

export function Playground() {
  const { base_url } = identityHere()
  // The catalog has them, so that looking at this page makes no key.
  const catalog = useLoad<CatalogShape>('/catalog')
  const models = modelsIn(catalog.data?.catalog).filter(({ active, kind }) => active !== false && kind !== 'embedding')
  const { typed, lost, field } = useDraft<Typed>('playground', UNTYPED)
  const [answer, setAnswer] = useState<Answer | undefined>(undefined)
  const { begin, stop } = useLatest()
  const model = typed.model || (models[0]?.id ?? '')
  const body = bodyOf({ ...typed, model })

  const send = async (event: Event) => {
    event.preventDefault()
    const signal = begin()
    const beganAt = performance.now()
    const sinceMs = () => Math.round(performance.now() - beganAt)
    let now = NOTHING
    const show = (changes: Partial<Answer>) => {
      now = { ...now, ...changes }
      setAnswer(now)
    }
    show({})
    try {
      const response = await request('/console/playground/chat/completions', {
        method: 'POST',
        body: { ...body, stream: true, stream_options: { include_usage: true } },
        signal,
      })
      show({ requestId: response.headers.get('X-Request-Id') })
      for await (const { text, cost, usage } of readAnswer(response)) {
        show({
          text: now.text + text,
          cost: cost ?? now.cost,
          tokens: usage ?? now.tokens,
          firstTokenMs: now.firstTokenMs ?? (text ? sinceMs() : undefined),
        })
      }
      show({ isRunning: false, durationMs: sinceMs() })
    } catch (error) {
      const isStopped = isAbort(error)
      show({ isRunning: false, isStopped, failure: isStopped ? undefined : failureFrom(error), durationMs: sinceMs() })
    }
  }
  const asked = { baseUrl: base_url, body }
  return (
    <Page title="Playground">
      <Loading of={catalog}>
        {() =>
          models.length === 0 && (
            <p class="empty">
              The catalog has no active model: <strong>Put in force</strong> on the page{' '}
              <a href={linkTo(['catalog'])}>Catalog</a> changes it.
            </p>
          )
        }
      </Loading>
      <div class="halves">
        <form class="panel model-form" onSubmit={(event) => void send(event)}>
          <div class="columns">
            <Select label="Model" value={model} onChange={field('model').onInput} options={models.map(asOption)} />
            <Field label="Temperature" {...field('temperature')} number="decimal" />
            <Field label="Max tokens" {...field('most')} number="count" />
          </div>
          <Field label="System prompt" {...field('system')} rows={2} />
          <Field label="Message" {...field('message')} rows={6} required />
          <div class="row wrap">
            {answer?.isRunning ? (
              <Button onClick={stop}>Stop</Button>
            ) : (
              <button type="submit" class="primary" disabled={!model || !!lost}>
                Send
              </button>
            )}
            <CopyButton text={() => asCurl(asked)} what="the request for curl" label="Copy as curl" />
            <CopyButton text={() => asSdkCode(asked)} what="the request for the SDK" label="Copy as SDK code" />
          </div>
          <p class="quiet">
            The first Send makes a key for this console, with 1 credit. It is revoked when the console ends.
          </p>
        </form>
        <div>
          <Problem failure={answer?.failure} />
          {answer ? <Answered of={answer} /> : <p class="empty">Send a message, and its answer is streamed here.</p>}
        </div>
      </div>
    </Page>
  )
}

const asOption = ({ id }: Model) => [id, id] as const

/** Fields that nobody has filled in are left out: a provider has its own defaults. */
function bodyOf({ model, system, message, temperature, most }: Typed): ChatBody {
  return {
    model,
    messages: [
      ...(system.trim() ? [{ role: 'system' as const, content: system }] : []),
      { role: 'user', content: message },
    ],
    ...(temperature.trim() && { temperature: Number(temperature) }),
    ...(most.trim() && { max_tokens: Number(most) }),
  }
}

type Answer = {
  readonly isRunning: boolean
  readonly text: string
  readonly requestId: string | null
  readonly cost?: string | undefined
  readonly tokens?: { readonly prompt_tokens: number; readonly completion_tokens: number } | undefined
  readonly firstTokenMs?: number | undefined
  readonly durationMs?: number | undefined
  readonly isStopped?: boolean
  readonly failure?: ApiFailure | undefined
}

function Answered({ of }: { readonly of: Answer }) {
  const { text, isRunning, requestId, cost, tokens, isStopped, firstTokenMs, durationMs } = of
  return (
    <Panel title="Answer" isRegion isBusy={isRunning}>
      <div class="inside">
        <pre class="answer">{text}</pre>
        <p role="status">
          {isRunning && 'Answering…'}
          {isStopped && 'Stopped: what was delivered until then is charged.'}
        </p>
        {!isRunning && (
          <Facts
            of={[
              ['Charged', cost !== undefined && <Credits of={cost} withUnit />],
              ['Tokens in / out', tokens && `${counted(tokens.prompt_tokens)} / ${counted(tokens.completion_tokens)}`],
              ['First token', <Took ms={firstTokenMs} />],
              ['Duration', <Took ms={durationMs} />],
              ['Its waybill', requestId !== null && <RequestLink id={requestId} />],
            ]}
          />
        )}
      </div>
    </Panel>
  )
}
