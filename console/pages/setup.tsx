import { useEffect, useState } from 'preact/hooks'
import type { CatalogShape, CatalogVersionShape } from '../../layers/admin/api/shapes/catalog.ts'
import { By } from '../parts/columns.tsx'
import { Button } from '../parts/controls.tsx'
import { Empty, Lines, Loading, Page } from '../parts/page.tsx'
import { type Column, cell, number, Rows } from '../parts/table.tsx'
import { useDraft } from '../parts/use-draft.ts'
import { type Loaded, useList, useLoad } from '../parts/use-load.ts'
import { Badge, Moment } from '../parts/values.tsx'
import type { PageUrl } from '../router.ts'
import { Books } from './books.tsx'
import { draftOf, Editor } from './catalog/editor.tsx'
import { ModelTable } from './catalog/models.tsx'
import { ChangeList, Plans, RollBack } from './catalog/put-in-force.tsx'
import { Routes } from './routes.tsx'

function Catalog({ url }: { readonly url: PageUrl }) {
  const catalog = useLoad<CatalogShape>('/catalog')
  const versions = useList<CatalogVersionShape>('/catalog/versions')
  const [target, setTarget] = useState<number | undefined>(undefined)
  const [model, setModel] = useState('')
  // If no catalog is in force yet, the first one is put over version 0.
  const shown: Omit<Loaded<Shown>, 'set'> = catalog.failure?.status === 404
    ? { ...catalog, data: NONE, failure: undefined }
    : catalog
  const inForce = shown.data ?? NONE
  const fresh = { text: draftOf(inForce.source ?? inForce.catalog), over: `${inForce.version}` }
  const draft = useDraft('catalog', fresh, localStorage)
  const [isOpened, setOpened] = useState(false)
  const isEditing = isOpened || draft.isTouched
  const edit = (id: string) => {
    setModel(id)
    setOpened(true)
  }
  const discard = () => {
    draft.forget()
    setOpened(false)
  }
  const then = {
    onStale: () => void catalog.reload(),
    onDone: (now: CatalogShape) => {
      catalog.set(now)
      versions.reload()
      discard()
      setTarget(undefined)
    },
  }
  // The address may ask for a draft, once.
  const asked = `${url.query}`
  useEffect(() => {
    setModel(url.query.get('model') ?? '')
    if (asked) setOpened(true)
  }, [asked])
  return (
    <Page
      title="Catalog"
      actions={
        shown.data &&
        !isEditing && (
          <Button class="primary" onClick={() => edit(model)}>
            Edit
          </Button>
        )
      }
    >
      <Loading of={shown}>
        {(data) => [
          <InForce of={data} />,
          Number(draft.typed.over) < data.version && <Older over={draft.typed.over} inForce={data.version} />,
          isEditing ? (
            <Editor
              {...then}
              inForce={data.version}
              draft={draft.typed.text}
              lost={draft.lost}
              model={model}
              onModel={setModel}
              onChange={(text) => {
                setOpened(true)
                draft.set({ ...draft.typed, text })
              }}
              onClose={discard}
            />
          ) : (
            <ModelTable of={data.catalog} comment={data.source?.$comment} onEdit={edit} />
          ),
        ]}
      </Loading>
      <h2>Versions</h2>
      <Rows
        of={versions}
        caption="Versions, newest first"
        columns={versionColumns(setTarget)}
        by="version"
        empty={
          <Empty>Only the catalog of the first deployment is there. Edit, then Put in force, makes a version.</Empty>
        }
      />
      {shown.data && shown.data.version > 0 && (
        <Plans
          over={shown.data.version}
          onDone={() => {
            void catalog.reload()
            versions.reload()
          }}
        />
      )}
      {target !== undefined && catalog.data && (
        <RollBack {...then} to={target} inForce={catalog.data.version} onClose={() => setTarget(undefined)} />
      )}
    </Page>
  )
}

function versionColumns(onRollBack: (version: number) => void): readonly Column<CatalogVersionShape>[] {
  return [
    { ...number('Version', ({ version }) => version), isName: true },
    cell('Put in force', (version) => <Moment at={version.pushed_at} isBrief />),
    cell('By', (version) => (version.by ? <By of={version.by} /> : 'unknown'), 'short'),
    cell(
      'Changes',
      ({ version, note }) => <VersionChanges path={`${version}`} title={note ?? 'Against the version before'} />,
      'rest',
    ),
    cell('Roll back', ({ version, in_force }) =>
      in_force ? <Badge of="in force" /> : <Button onClick={() => onRollBack(version)}>Roll back to {version}…</Button>,
    ),
  ]
}

/** A version that came into force since the draft was begun has what the draft would take back. */
function Older({ over, inForce }: { readonly over: string; readonly inForce: number }) {
  return (
    <section class="notice warn" aria-label="An older draft">
      <p>
        This draft was begun on version {over}. In force over version {inForce}, it takes back what was changed since.
      </p>
      <VersionChanges path={`${inForce}?against=${over}`} title={`Changed since version ${over}`} />
    </section>
  )
}

function VersionChanges({ path, title }: { readonly path: string; readonly title: string }) {
  const [isOpen, setOpen] = useState(false)
  const read = useLoad<CatalogShape>(isOpen ? `/catalog/versions/${path}` : null)
  const none = ({ compared_to }: CatalogShape) =>
    compared_to === null ? 'The version before is not kept.' : 'It changed nothing.'
  return (
    <details class="folded" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{title}</summary>
      {isOpen && (
        <Loading of={read}>{(then) => <Lines of={then.changes.length > 0 ? then.changes : [none(then)]} />}</Loading>
      )}
    </details>
  )
}

type Shown = Pick<CatalogShape, 'version' | 'pushed_at' | 'by' | 'catalog' | 'source' | 'warnings'>

const EMPTY = { providers: {}, models: [] }
const NONE: Shown = { version: 0, pushed_at: '', by: null, catalog: EMPTY, source: null, warnings: [] }

function InForce({ of }: { readonly of: Shown }) {
  if (of.version === 0) {
    return (
      <Empty command="catalog push catalog.json">
        There is no catalog yet. <strong>Edit</strong> begins one, and so does
      </Empty>
    )
  }
  return [
    <p>
      Version <strong>{of.version}</strong> is in force since <Moment at={of.pushed_at} />
      {of.by && [' by ', <By of={of.by} />]}.
    </p>,
    <ChangeList changes={[]} warnings={of.warnings} />,
  ]
}

export const PAGES = { catalog: Catalog, routes: Routes, books: Books }
