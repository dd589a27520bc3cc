import { useState } from 'preact/hooks'
import type { CatalogShape, CatalogVersionShape } from '../../operator/admin-api/shapes.ts'
import { ask } from '../api.ts'
import { Badge } from '../parts/badge.tsx'
import { Loading } from '../parts/loading.tsx'
import { Moment } from '../parts/moment.tsx'
import { Page } from '../parts/page.tsx'
import { Problem } from '../parts/problem.tsx'
import { Rows } from '../parts/rows.tsx'
import { useAct } from '../parts/use-act.ts'
import { useList } from '../parts/use-list.ts'
import { useLoad } from '../parts/use-load.ts'
import { Editor } from './catalog/editor.tsx'
import { ModelTable } from './catalog/model-table.tsx'

export function Catalog() {
  const catalog = useLoad<CatalogShape>('/catalog')
  const versions = useList<CatalogVersionShape>('/catalog/versions', {})
  const [draft, setDraft] = useState<string | undefined>(undefined)
  const reading = useAct()
  const begin = (from: CatalogShape) => setDraft(JSON.stringify(from.catalog, null, 2))
  const beginFrom = (version: number) =>
    reading.run(async () => begin(await ask<CatalogShape>(`/catalog/versions/${version}`)))
  return (
    <Page
      title="Catalog"
      actions={
        catalog.data &&
        draft === undefined && (
          <button type="button" class="primary" onClick={() => catalog.data && begin(catalog.data)}>
            Edit
          </button>
        )
      }
    >
      <Loading of={catalog}>
        {(data) => (
          <>
            <InForce of={data} />
            {draft === undefined ? (
              <ModelTable of={data.catalog} />
            ) : (
              <Editor
                inForce={data}
                draft={draft}
                onChange={setDraft}
                onStale={() => void catalog.reload()}
                onClose={() => setDraft(undefined)}
                onDone={(now) => {
                  catalog.set(now)
                  versions.reload()
                  setDraft(undefined)
                }}
              />
            )}
          </>
        )}
      </Loading>
      <h2>Versions</h2>
      <Problem failure={reading.failure} />
      <Rows
        of={versions}
        caption="Versions, newest first"
        head={
          <>
            <th scope="col" class="number">
              Version
            </th>
            <th scope="col">Pushed</th>
            <th scope="col">By</th>
            <th scope="col">Roll back</th>
          </>
        }
        row={(version) => (
          <tr key={version.version}>
            <th scope="row" class="number">
              {version.version}
            </th>
            <td>
              <Moment at={version.pushed_at} />
            </td>
            <td class="wide">{version.by ?? 'unknown'}</td>
            <td>
              {version.in_force ? (
                <Badge of="in force" />
              ) : (
                <button type="button" onClick={() => void beginFrom(version.version)}>
                  Roll back to {version.version}…
                </button>
              )}
            </td>
          </tr>
        )}
        empty={<p>Only the catalog of the first deployment is there. Edit, then Put in force, makes a version.</p>}
      />
    </Page>
  )
}

function InForce({ of }: { readonly of: CatalogShape }) {
  return (
    <>
      <p>
        Version <strong>{of.version}</strong> is in force since <Moment at={of.pushed_at} />
        {of.by && ` by ${of.by}`}.
      </p>
      {of.warnings.map((warning) => (
        <p key={warning} class="notice warn">
          {warning}
        </p>
      ))}
      {of.changes.length > 0 && (
        <details>
          <summary>What it changed</summary>
          <ul class="plain">
            {of.changes.map((change) => (
              <li key={change}>{change}</li>
            ))}
          </ul>
        </details>
      )}
    </>
  )
}
