import { DAY_MS } from '../../layers/gateway/domain/time.ts'
import { lastsText } from '../pages/key/lasts.ts'
import { Credits } from '../parts/credits.tsx'
import type { ApiKey, Sums } from './ask.ts'
import { DayChart } from './day-chart.tsx'
import { type DaySum, dayOf, lastDays, SHOWN_DAYS } from './days.ts'
import { Part } from './part.tsx'
import { type Answered, useAnswer } from './use-answer.ts'

type ByDay = Sums<{ readonly day: string }>
type ByModel = Sums<{ readonly model: string | null }>

type Props = { readonly secret: string; readonly apiKey: ApiKey }

export function Balance({ secret, apiKey }: Props) {
  const now = Date.now()
  const from = dayOf(now - (SHOWN_DAYS - 1) * DAY_MS)
  const byDay = useAnswer<ByDay>(secret, `usage?group=day&from=${from}`)
  const byModel = useAnswer<ByModel>(secret, `usage?group=model&from=${from}`)
  return (
    <>
      <section class="panel" aria-label="Balance">
        <h2>Balance</h2>
        <p class="balance">
          <Credits of={apiKey.balance} withUnit />
        </p>
        {byDay.answer && <p>{lastsText(apiKey.balance, { data: lastDays(byDay.answer, now).map(asBucket) }, now)}</p>}
        <p class="quiet">
          <Credits of={apiKey.spent} /> charged so far, <Credits of={apiKey.held} /> held by requests under way.
        </p>
      </section>
      <Part title={`Charged by day, last ${SHOWN_DAYS} days`} of={byDay}>
        {(answer) => (
          <>
            <DayChart days={lastDays(answer, now)} />
            <Incomplete of={answer} />
          </>
        )}
      </Part>
      <ModelSums of={byModel} />
    </>
  )
}

function asBucket({ day, cost }: DaySum) {
  return { start_time: `${day}T00:00:00.000Z`, results: [{ cost }] }
}

function Incomplete({ of: { left_out } }: { readonly of: Pick<ByDay, 'left_out'> }) {
  if (left_out.length === 0) return null
  return (
    <p class="notice">There were more requests than one call adds up: the earlier ones of today are missing here.</p>
  )
}

function ModelSums({ of }: { readonly of: Answered<ByModel> }) {
  return (
    <Part title={`By model, last ${SHOWN_DAYS} days`} of={of}>
      {({ data, total }) => (
        <table>
          <thead>
            <tr>
              <th scope="col">Model</th>
              <th scope="col">Requests</th>
              <th scope="col">Tokens</th>
              <th scope="col">Charged</th>
            </tr>
          </thead>
          <tbody>
            {[...data, { ...total, model: 'All' }].map(({ model, requests, total_tokens: tokens, cost }) => (
              <tr key={model}>
                <th scope="row">{model ?? 'no model: lists, usage, balance'}</th>
                <td>{requests.toLocaleString('en')}</td>
                <td>{tokens.toLocaleString('en')}</td>
                <td>
                  <Credits of={cost} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Part>
  )
}
