import type { ComponentChildren, JSX } from 'preact'
import type { KeyDetail } from '../../../layers/admin/api/shapes/keys.ts'
import { SETTING_WORDS } from '../../../layers/admin/settings/setting-words.ts'
import { Share } from '../../parts/metric.tsx'
import { counted } from '../../parts/numbers.ts'
import { Credits, Moment, useNow } from '../../parts/values.tsx'

type BannerProps = { readonly of: KeyDetail; readonly children: ComponentChildren }

export function GraceBanner({ of: key, children }: BannerProps) {
  if (!key.previous) return null
  const { last_four, expires_at } = key.previous
  return (
    <section class="notice warn" aria-label="The old secret">
      <p>
        The old secret <code>…{last_four}</code> works for another <Countdown to={expires_at} />. <OldUse of={key} />
      </p>
      {children}
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
