import { useState } from 'preact/hooks'
import type { AccountDetail } from '../../../layers/admin/api/shapes/accounts.ts'
import type { KeyShape } from '../../../layers/admin/api/shapes/keys.ts'
import { ask, pathOf, post } from '../../api.ts'
import { announce } from '../../parts/controls.tsx'
import { ActDialog } from '../../parts/dialog.tsx'
import { NamePicker } from '../../parts/filters.tsx'
import { countOf } from '../../parts/numbers.ts'
import { Credits } from '../../parts/values.tsx'
import { type Acts, type DialogProps, EditSettings, GrantCredits } from '../detail/dialogs.tsx'
import { CreateKey } from '../keys/acts.tsx'

type Props = DialogProps<AccountDetail>

export const ACCOUNT_ACTS: Acts<AccountDetail> = {
  grant: { button: 'Grant credits', class: 'primary', Form: GrantCredits },
  'add-key': { button: 'Add key', Form: AddKey },
  edit: { button: 'Change settings', Form: EditSettings },
  adopt: { button: 'Adopt a key', isOffered: ({ status }) => status === 'active', Form: AdoptKey },
  suspend: {
    button: 'Suspend',
    isOffered: ({ status }) => status === 'active',
    title: (name) => `Suspend ${name}?`,
    verb: 'Suspend',
    done: ({ name }) => `${name} is suspended, with all its keys.`,
    isDangerous: true,
    about: ({ keys }) =>
      `Every request with its ${countOf(keys.length, 'key')} is refused from the next one on, until you resume it. Requests under way end as usual, and its credits stay.`,
  },
  resume: {
    button: 'Resume',
    isOffered: ({ status }) => status === 'suspended',
    title: (name) => `Resume ${name}?`,
    verb: 'Resume',
    done: ({ name }) => `${name} is resumed.`,
    about: () =>
      'Requests with its keys are admitted again from the next one on. A key that was suspended by itself stays so.',
  },
  close: {
    button: 'Close',
    class: 'danger',
    title: (name) => `Close ${name} for good?`,
    verb: 'Close for good',
    done: ({ name, available }) => `${name} is closed. ${available} credits are left of its balance.`,
    isDangerous: true,
    isConfirmed: true,
    about: ({ keys, available }) => (
      <>
        Its {countOf(keys.length, 'key')} are revoked, and nothing brings it or them back.{' '}
        <Credits of={available} withUnit /> are left, which nobody can use then.
      </>
    ),
  },
}

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
        A key with a balance of its own becomes a key of {account.name}, which gets that balance. The key’s secret,
        limits and requests stay. It cannot leave again.
      </p>
      <NamePicker
        label="Key"
        list="keys"
        value={key?.name}
        onChoose={setKey}
        isOffered={({ account_id, status }) => account_id === null && status !== 'revoked'}
      />
      {key && (
        <p>
          <Credits of={key.available} withUnit /> go to {account.name} with it.
        </p>
      )}
    </ActDialog>
  )
}
