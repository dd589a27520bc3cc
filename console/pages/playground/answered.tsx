import type { ComponentChildren } from 'preact'
import { counted } from '../../parts/counted.ts'
import { Credits } from '../../parts/credits.tsx'
import { RequestLink } from '../../parts/links.tsx'
import { Took } from '../../parts/took.tsx'

export type Answer = {
  readonly isRunning: boolean
  readonly text: string
  readonly requestId: string | null
  readonly cost?: string | undefined
  readonly tokens?: { readonly prompt_tokens: number; readonly completion_tokens: number } | undefined
  /** Milliseconds since it was sent, as this window saw it. */
  readonly firstTokenMs?: number | undefined
  readonly durationMs?: number | undefined
  readonly isStopped?: boolean
}

export function Answered({ of }: { readonly of: Answer }) {
  const { text, isRunning, requestId, cost, tokens, isStopped } = of
  return (
    <section class="panel answered" aria-label="Answer" aria-busy={isRunning}>
      <h2>Answer</h2>
      <div class="inside">
        <pre class="answer">{text}</pre>
        <p role="status">
          {isRunning && 'Answering…'}
          {isStopped && 'Stopped: what was delivered until then is charged.'}
        </p>
        {!isRunning && (
          <dl class="facts">
            {cost !== undefined && (
              <Fact name="Charged">
                <Credits of={cost} withUnit />
              </Fact>
            )}
            {tokens && (
              <Fact name="Tokens in / out">
                {counted(tokens.prompt_tokens)} / {counted(tokens.completion_tokens)}
              </Fact>
            )}
            <Fact name="First token">
              <Took ms={of.firstTokenMs} />
            </Fact>
            <Fact name="Duration">
              <Took ms={of.durationMs} />
            </Fact>
            {requestId !== null && (
              <Fact name="Its waybill">
                <RequestLink id={requestId} />
              </Fact>
            )}
          </dl>
        )}
      </div>
    </section>
  )
}

function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  )
}
