import { Credits } from '../../parts/credits.tsx'
import { RequestLink } from '../../parts/links.tsx'
import { Took } from '../../parts/moment.tsx'
import { counted } from '../../parts/numbers.ts'
import { Facts, Panel } from '../../parts/panel.tsx'

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
              ['First token', <Took ms={of.firstTokenMs} />],
              ['Duration', <Took ms={of.durationMs} />],
              ['Its waybill', requestId !== null && <RequestLink id={requestId} />],
            ]}
          />
        )}
      </div>
    </Panel>
  )
}
