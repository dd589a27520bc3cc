import type { JSX } from 'preact'
import type { KeyDetail } from '../../../layers/admin/api/shapes/keys.ts'
import type { SettingField } from '../../../layers/admin/settings/setting-fields.ts'
import { shownText } from '../../../layers/admin/settings/setting-texts.ts'
import { ASKED_SETTINGS, SETTING_WORDS } from '../../../layers/admin/settings/setting-words.ts'
import type { Setting } from '../../../layers/gateway/domain/key-settings.ts'
import { Credits } from '../../parts/credits.tsx'
import { Moment } from '../../parts/moment.tsx'
import { counted } from '../../parts/numbers.ts'
import { Facts } from '../../parts/panel.tsx'
import { Share } from '../../parts/share.tsx'

/** The name is the title, and limits are shown beside their use. */
const BESIDE_USE: readonly SettingField[] = ['name', 'rpm', 'daily_limit', 'max_concurrent']
const labelOf = (field: string) => Object.values(SETTING_WORDS).find((words) => words.field === field)?.label ?? field

export function Limits({ of: key }: { readonly of: KeyDetail }) {
  const { minute, day, requests_open, max_concurrent, credit_windows } = key
  return (
    <>
      <h2>Limits, now</h2>
      <div class="gauges">
        <Gauge
          name="This minute"
          used={minute.limit - minute.remaining}
          limit={minute.limit}
          {...(minute.reset_seconds > 0 && { remark: `full again in ${minute.reset_seconds} s` })}
        />
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
            const { field, label } = SETTING_WORDS[setting]
            return [label, shown(setting, key[field])] as const
          }),
          ['Secret', <code>{`${key.prefix}…${key.last_four}`}</code>],
          ['Created', <Moment at={key.created_at} isBrief />],
        ]}
      />
    </>
  )
}

function shown(setting: Setting, value: unknown) {
  const isTime = SETTING_WORDS[setting].kind === 'moment' && typeof value === 'string'
  return isTime ? <Moment at={value} /> : shownText(setting, value)
}

type Props = {
  readonly name: string
  readonly used: number
  readonly limit: number
  readonly remark?: string
  readonly amounts?: JSX.Element
}

/** The used part of a limit. */
function Gauge({ name, used, limit, remark, amounts }: Props) {
  return (
    <div class="gauge">
      <span>{name}</span>
      <span class="number">{amounts ?? `${counted(used)} of ${counted(limit)}`}</span>
      <Share
        of={used / Math.max(limit, 1)}
        colour={used >= limit * 0.95 ? 'c4' : used >= limit * 0.8 ? 'c2' : 'c0'}
        label={name}
      />
      {remark && <span class="quiet">{remark}</span>}
    </div>
  )
}
