import type { HoldShape, KeyDetail } from '../../layers/admin/api/shapes/keys.ts'
import { Metric } from '../parts/metric.tsx'
import { counted } from '../parts/numbers.ts'
import { Panel } from '../parts/panel.tsx'
import { type Column, cell, credits, name, Table } from '../parts/table.tsx'
import { Badge, Moment, RequestLink } from '../parts/values.tsx'
import type { PageUrl } from '../router.ts'
import { ActButton } from './detail/dialogs.tsx'
import { DetailPage } from './detail/page.tsx'
import { Settings } from './detail/panels.tsx'
import { END_GRACE, KEY_ACTS } from './key/acts.tsx'
import { GraceBanner, Limits } from './key/panels.tsx'

/** The name is the title, and limits are shown beside their use. */
const SHOWN_ELSEWHERE = ['name', 'rpm', 'daily_limit', 'max_concurrent']

export function KeyPage({ url }: { readonly url: PageUrl }) {
  return (
    <DetailPage<KeyDetail>
      url={url}
      word="key"
      acts={KEY_ACTS}
      groups={['model']}
      use={(key) => (
        <Metric name="Last used" value={<Moment at={key.last_used_at} isBrief />}>
          <p class="quiet">
            {counted(key.requests_today)} today, {counted(key.requests_open)} under way
          </p>
        </Metric>
      )}
      above={(key, onDone) => (
        <GraceBanner of={key}>
          <ActButton act={END_GRACE} of={key} onDone={onDone} />
        </GraceBanner>
      )}
      beside={(key) => (
        <>
          <Limits of={key} />
          <Settings of={key} without={SHOWN_ELSEWHERE}>
            <code>{`${key.prefix}…${key.last_four}`}</code>
          </Settings>
        </>
      )}
      below={({ holds }) =>
        holds.length > 0 && (
          <Panel title="Open holds" class="apart">
            <Table caption="Open holds" columns={HOLDS} rows={holds} by="request_id" />
          </Panel>
        )
      }
    />
  )
}

const HOLDS: readonly Column<HoldShape>[] = [
  name('Request', (hold) => <RequestLink id={hold.request_id} />),
  credits('Held', (hold) => hold.amount),
  cell('Until', (hold) => <Moment at={hold.until} />),
  cell('State', (hold) => (hold.expired ? 'dead: the sweep gives it back' : <Badge of="open" />)),
]
