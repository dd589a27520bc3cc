import type { ComponentChildren, JSX } from 'preact'
import type { KeyDetail } from '../../../layers/admin/api/shapes/keys.ts'
import type { UsagePage } from '../../../layers/admin/api/shapes/usage.ts'
import { shownText } from '../../../layers/admin/settings/setting-texts.ts'
import type { SettingField } from '../../../layers/admin/settings/setting-words.ts'
import { ASKED_SETTINGS, SETTING_WORDS } from '../../../layers/admin/settings/setting-words.ts'
import { MINUTE_MS } from '../../../layers/gateway/domain/basics/time.ts'
import { Button } from '../../parts/controls.tsx'
import { LeftBar, Metric, Share } from '../../parts/metric.tsx'
import { counted, lastsText, sumOf } from '../../parts/numbers.ts'
import { Facts } from '../../parts/panel.tsx'
import { Credits, Moment, useNow } from '../../parts/values.tsx'
import { linkTo } from '../../router.ts'

export const DAYS = 30

export function Balance({ of: key, usage }: { readonly of: KeyDetail; readonly usage: UsagePage | undefined }) {
  const now = useNow(MINUTE_MS)
  const query = { key_id: key.id, range: `${DAYS}d` }
  const part = (name: 'granted' | 'available' | 'held' | 'spent') => (
    <span class="number">
      <Credits of={key[name]} /> {name}
    </span>
  )
  const days = usage?.data ?? []
  const charges = days.map(({ start_time: day, results }) => ({ day, cost: sumOf(results, (one) => Number(one.cost)) }))
  return (
    <div class="metrics">
      <Metric name="Balance" value={<Credits of={key.available} withUnit />} class="balance">
        <LeftBar available={key.available} granted={key.granted} />
        <p>{usage ? lastsText(key.available, charges, now) : 'Loading…'}</p>
        <p class="quiet">
          {part('granted')} = {part('available')} + {part('held')} + {part('spent')}
        </p>
        {key.loss_today !== '0' && (
          <p title="What its requests may have cost beyond their charges">
            Lost today: <Credits of={key.loss_today} />
          </p>
        )}
      </Metric>
      <Metric
        name={`Charged in ${DAYS} days`}
        value={usage ? <Credits of={usage.total.cost} withUnit /> : '–'}
        href={linkTo(['usage'], query)}
        shape={{ of: charges.map(({ cost }) => cost), colour: 'c0' }}
      />
      <Metric
        name={`Requests in ${DAYS} days`}
        value={usage ? counted(usage.total.requests) : '–'}
        href={linkTo(['requests'], query)}
        shape={{ of: days.map(({ results }) => sumOf(results, (group) => group.requests)), colour: 'c1' }}
      />
      <Metric name="Last used" value={<Moment at={key.last_used_at} isBrief />}>
        <p class="quiet">
          {counted(key.requests_today)} today, {counted(key.requests_open)} under way
        </p>
      </Metric>
    </div>
  )
}

export function GraceBanner({ of: key, onEnd }: { readonly of: KeyDetail; readonly onEnd: () => void }) {
  if (!key.previous) return null
  const { last_four, expires_at } = key.previous
  return (
    <section class="notice warn" aria-label="The old secret">
      <p>
        The old secret <code>…{last_four}</code> works for another <Countdown to={expires_at} />. <OldUse of={key} />
      </p>
      <Button onClick={onEnd}>End now</Button>
    </section>
  )
}

export function OldUse({ of: { previous } }: { readonly of: KeyDetail }) {
  if (!previous?.last_used_at) return <strong>Nobody has used it since the rotation.</strong>
  return (
    <>
      <strong>It is still in use:</strong> last <Moment at={previous.last_used_at} />.
    </>
  )
}

/** The time left until a moment, second by second. Hidden from screen readers, which would read it without end. */
function Countdown({ to }: { readonly to: string }) {
  const seconds = Math.max(0, Math.ceil((Date.parse(to) - useNow(1000)) / 1000))
  const two = (count: number) => String(count).padStart(2, '0')
  return (
    <span class="number" role="timer" aria-live="off">
      {seconds === 0 ? 'over' : `${two(Math.floor(seconds / 60))}:${two(seconds % 60)}`}
    </span>
  )
}

/** The name is the title, and limits are shown beside their use. */
const BESIDE_USE: readonly SettingField[] = ['name', 'rpm', 'daily_limit', 'max_concurrent']
const labelOf = (field: string) => Object.values(SETTING_WORDS).find((words) => words.field === field)?.label ?? field

export function Limits({ of: key }: { readonly of: KeyDetail }) {
  const { minute, day, requests_open, max_concurrent, credit_windows } = key
  return (
    <>
      <h2>Limits, now</h2>
      <div class="inside gauges">
        <Gauge name="This minute" used={minute.limit - minute.remaining} limit={minute.limit}>
          {minute.reset_seconds > 0 && <small>full again in {minute.reset_seconds} s</small>}
        </Gauge>
        <Gauge name="Today (UTC)" used={day.limit - day.remaining} limit={day.limit} />
        <Gauge name="Concurrent" used={requests_open} limit={max_concurrent} />
        {credit_windows.map(({ setting, limit, remaining }) => (
          <Gauge
            key={setting}
            name={labelOf(setting)}
            used={Number(limit) - Number(remaining)}
            limit={Number(limit)}
            amounts={
              <>
                <Credits of={remaining} /> of <Credits of={limit} /> left
              </>
            }
          />
        ))}
      </div>
    </>
  )
}

export function Settings({ of: key }: { readonly of: KeyDetail }) {
  const settings = ASKED_SETTINGS.filter((setting) => !BESIDE_USE.includes(SETTING_WORDS[setting].field))
  return (
    <>
      <h2>Settings</h2>
      <Facts
        of={[
          ...settings.map((setting) => {
            const { field, label, kind } = SETTING_WORDS[setting]
            const value = key[field]
            const isTime = kind === 'moment' && typeof value === 'string'
            return [label, isTime ? <Moment at={value} /> : shownText(setting, value)] as const
          }),
          ['Secret', <code>{`${key.prefix}…${key.last_four}`}</code>],
          ['Created', <Moment at={key.created_at} isBrief />],
        ]}
      />
    </>
  )
}

type GaugeProps = {
  readonly name: string
  readonly used: number
  readonly limit: number
  readonly amounts?: JSX.Element
  readonly children?: ComponentChildren
}

function Gauge({ name, used, limit, amounts, children }: GaugeProps) {
  const colour = used >= limit * 0.95 ? 'c4' : used >= limit * 0.8 ? 'c2' : 'c0'
  return (
    <div class="row wrap between gauge">
      <span>{name}</span>
      <span class="number">{amounts ?? `${counted(used)} of ${counted(limit)}`}</span>
      <Share of={used / Math.max(limit, 1)} colour={colour} label={name} />
      {children}
    </div>
  )
}
