import { useEffect, useState } from 'preact/hooks'
import type { Overview } from '../../../layers/admin/api/shapes/usage.ts'
import { CopyButton } from '../../parts/controls.tsx'
import { Panel } from '../../parts/panel.tsx'
import { linkTo } from '../../router.ts'
import { identityHere } from '../../session.ts'
import { asCurl } from '../playground/as-code.ts'

const LOOK_EVERY_MS = 3_000

/** On a gateway without a request: the next step, and a greeting when the first one comes. */
export function FirstSteps({ of: data, reload }: { readonly of: Overview; readonly reload: () => Promise<void> }) {
  const isNew = data.range.requests === 0 && Number(data.spent_7_days) === 0 && data.requests_today === 0
  const [wasNew, setWasNew] = useState(isNew)
  useEffect(() => {
    if (!isNew) return
    setWasNew(true)
    const timer = setInterval(() => void reload(), LOOK_EVERY_MS)
    return () => clearInterval(timer)
  }, [isNew, reload])
  if (isNew) return <Steps model={data.routes[0]?.model} />
  if (!wasNew) return null
  return (
    <p class="notice good">
      The first request has come. <a href={linkTo(['requests'])}>See what it was charged</a>
    </p>
  )
}

function Steps({ model = 'echo' }: { readonly model: string | undefined }) {
  const { base_url: baseUrl } = identityHere()
  const code = asCurl({ baseUrl, body: { model, messages: [{ role: 'user', content: 'Hello' }] } })
  return (
    <Panel title="Make the first request" class="apart">
      <ol>
        <li>
          <a href={linkTo(['keys'])}>Create a key</a>, or take the one that the gateway printed when it started.
        </li>
        <li>
          Send this, with the key in <code>WAYBILL_KEY</code>. Any OpenAI SDK works with the base URL{' '}
          <code>{baseUrl}</code>.<pre>{code}</pre>
          <CopyButton text={() => code} what="the command" />
        </li>
        <li class="quiet" aria-live="polite">
          Waiting for the first request…
        </li>
      </ol>
    </Panel>
  )
}
