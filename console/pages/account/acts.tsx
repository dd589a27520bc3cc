import { useState } from 'preact/hooks'
import type { AccountDetail } from '../../../layers/admin/api/shapes/accounts.ts'
import type { KeyShape } from '../../../layers/admin/api/shapes/keys.ts'
import { ask, pathOf, post } from '../../api.ts'
import { announce } from '../../parts/controls.tsx'
import { ActDialog } from '../../parts/dialog.tsx'
import { NamePicker } from '../../parts/filters.tsx'
import { countOf, shortAmount } from '../../parts/numbers.ts'
import { type Act, type DialogProps, EditSettings, GrantCredits, pausing, plain } from '../detail/dialogs.tsx'
import { CreateKey } from '../keys/acts.tsx'

type Props = DialogProps<AccountDetail>

export const ACCOUNT_ACTS: readonly Act<AccountDetail>[] = [
  { button: 'Grant credits', class: 'primary', Form: GrantCredits },
  { button: 'Add key', Form: AddKey },
  { button: 'Change settings', Form: EditSettings },
  { button: 'Adopt a key', isOffered: ({ status }) => status === 'active', Form: AdoptKey },
  ...pausing<AccountDetail>(({ keys }) => `its ${countOf(keys.length, 'key')}`),
  plain({
    button: 'Close',
    path: 'close',
    class: 'danger',
    isConfirmed: true,
    about: ({ keys, available }) =>
      `Its keys (${keys.length}) are revoked, and nothing brings it or them back. ${shortAmount(available)} credits are left, which nobody can use then.`,
  }),
]

/** The customer as it is after a change of its keys. */
const again = ({ of, onDone }: Props) => ask<AccountDetail>(pathOf(of.id)).then(onDone)

function AddKey(props: Props) {
  return <CreateKey account={props.of} onCreated={() => void again(props)} onClose={props.onClose} />
}

function AdoptKey(props: Props) {
  const { of: account, onClose } = props
  const [key, setKey] = useState<KeyShape | null>(null)
  const adopt = async (idempotencyKey: string) => {
    if (!key) return
    await post(`${pathOf(key.id)}/adopt`, idempotencyKey, { account: account.id })
    announce(`${key.name} is a key of ${account.name} now.`)
    await again(props)
  }
  return (
    <ActDialog
      title={`Adopt a key for ${account.name}`}
      verb="Adopt"
      isReady={key !== null}
      onAct={adopt}
      onClose={onClose}
    >
      <p>
        A key with a balance of its own becomes a key of {account.name}, which gets that balance
        {key && `: ${shortAmount(key.available)} credits`}. The key’s secret, limits and requests stay. It cannot leave
        again.
      </p>
      <NamePicker
        filter="key_id"
        value={key?.name}
        onChoose={setKey}
        isOffered={({ account_id, status }) => account_id === null && status !== 'revoked'}
      />
    </ActDialog>
  )
}
