import type { AccountMade, AccountShape } from '../../layers/admin/api/shapes/accounts.ts'
import type { CreateAccountBody } from '../../layers/admin/api/shapes/bodies.ts'
import { post } from '../api.ts'
import {
  announce,
  Button,
  Choice,
  download,
  Field,
  optionsOf,
  PrimaryButton,
  ReferenceField,
  SearchField,
} from '../parts/controls.tsx'
import { customersCsv } from '../parts/csv.ts'
import { ActDialog } from '../parts/dialog.tsx'
import { Empty, LeftBar, Page } from '../parts/page.tsx'
import { SettingsForm } from '../parts/settings-form.tsx'
import { type Column, cell, count, credits, name, number, Rows } from '../parts/table.tsx'
import { CUSTOMER_FORM, settingsOf, type Typed } from '../parts/typed-settings.ts'
import { useDraft } from '../parts/use-draft.ts'
import { useList } from '../parts/use-load.ts'
import { Credits, CUSTOMER_STATES, Moment, NameLink, State } from '../parts/values.tsx'
import { filtersIn, go, linkTo, type PageUrl, placeOf, titleOf } from '../router.ts'

export function Accounts({ url }: { readonly url: PageUrl }) {
  const { query, filter } = filtersIn(url, ['status', 'q', 'act'])
  const { status, q } = query
  // A search among the loaded rows alone would be misleading, so all rows are loaded first.
  const customers = useList<AccountShape>('/accounts', { status }, q ? 100 : 0)
  const rows = customers.rows.filter((one) => isFoundBy(one, q.toLowerCase()))
  const create = (isOpen: boolean) => filter('act').onChange(isOpen ? 'create' : '')
  return (
    <Page title="Customers" actions={<PrimaryButton onClick={() => create(true)}>Create customer</PrimaryButton>}>
      <div class="row wrap bar">
        <SearchField label="Find customers" placeholder="Name, external id or contact" {...filter('q')} />
        <Choice label="State" {...filter('status')} options={optionsOf('Any state', CUSTOMER_STATES, titleOf)} />
        <div class="push">
          <Button onClick={() => download('customers.csv', customersCsv(rows))}>Export CSV</Button>
        </div>
      </div>
      <Rows
        of={q && customers.isLoading ? { ...customers, rows: [] } : { ...customers, rows }}
        caption="Customers"
        columns={COLUMNS}
        by="id"
        empty={status || q ? NONE_LIKE_THIS : NO_CUSTOMERS}
      />
      {query.act === 'create' && <CreateCustomer onClose={() => create(false)} />}
    </Page>
  )
}

function isFoundBy({ id, name, external_id, contact_name, contact_email }: AccountShape, text: string): boolean {
  return [id, name, external_id, contact_name, contact_email].some((part) => part?.toLowerCase().includes(text))
}

const COLUMNS: readonly Column<AccountShape>[] = [
  { ...name('Name', (one) => <NameLink id={one.id} name={one.name} />), class: 'fill' },
  cell('State', (one) => <State of={one} />),
  number('Balance', (one) => [<Credits of={one.available} />, <LeftBar of={one} />]),
  credits('Spent', (one) => one.spent),
  count('Keys', (one) => one.key_count),
  cell('External id', (one) => one.external_id, 'short'),
  cell('Contact', (one) => one.contact_name ?? one.contact_email, 'short'),
  cell('Created', (one) => <Moment at={one.created_at} isBrief />),
]

const NONE_LIKE_THIS = (
  <Empty>
    No customers match these filters. <a href={linkTo(['accounts'])}>Show all customers</a>
  </Empty>
)

const NO_CUSTOMERS = (
  <Empty command="accounts create --name acme --credits 25">
    There are no customers yet. A customer has one balance and as many keys as they like.{' '}
    <strong>Create customer</strong> makes one, and so does
  </Empty>
)

function CreateCustomer({ onClose }: { readonly onClose: () => void }) {
  const draft = useDraft<Typed>('customer', { credits: '0', reference: '' })
  const { credits = '', reference } = draft.typed
  const create = async (idempotencyKey: string) => {
    const body: CreateAccountBody = {
      ...settingsOf(draft.typed, CUSTOMER_FORM),
      credits: credits.trim(),
      ...(reference && { reference }),
    }
    const { id, name } = await post<AccountMade>('/accounts', idempotencyKey, body)
    announce(`The customer ${name} was made.`)
    go(placeOf(id))
  }
  return (
    <ActDialog title="Create a customer" verb="Create" draft={draft} onAct={create} onClose={onClose}>
      <SettingsForm form={CUSTOMER_FORM} typed={draft.typed} onChange={draft.set} />
      <Field label="Credits to begin with" number="credits" required {...draft.field('credits')} />
      <ReferenceField {...draft.field('reference')} />
    </ActDialog>
  )
}
