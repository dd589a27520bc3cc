import type { ComponentChildren, VNode } from 'preact'
import { useState } from 'preact/hooks'
import type { RevokeBody } from '../../../layers/admin/api/shapes/bodies.ts'
import type { KeyDetail } from '../../../layers/admin/api/shapes/keys.ts'
import { keyPath, post } from '../../api.ts'
import { announce, Button, Field } from '../../parts/controls.tsx'
import { ActDialog, type DialogProps } from '../../parts/dialog.tsx'
import { EditKey, GrantCredits, RotateKey } from './forms.tsx'
import { OldUse } from './panels.tsx'

type KeyDialogProps = DialogProps<KeyDetail>

type Act = {
  readonly title: (name: string) => string
  readonly verb: string
  readonly done: (name: string) => string
  readonly isDangerous?: boolean
  /** The key's name must be typed. */
  readonly isConfirmed?: boolean
  readonly about: (key: KeyDetail) => ComponentChildren
}

/** The server answers these acts, named by the last part of their path, with the key as it is then. */
const ACTS = {
  suspend: {
    title: (name) => `Suspend ${name}?`,
    verb: 'Suspend',
    done: (name) => `${name} is suspended.`,
    isDangerous: true,
    about: () =>
      'Every request with it is refused from the next one on, until you resume it. Requests under way end as usual, and its credits, limits and secrets stay.',
  },
  resume: {
    title: (name) => `Resume ${name}?`,
    verb: 'Resume',
    done: (name) => `${name} is resumed.`,
    about: () => 'Requests with it are admitted again from the next one on.',
  },
  revoke: {
    title: (name) => `Revoke ${name} for good?`,
    verb: 'Revoke for good',
    done: (name) => `${name} is revoked.`,
    isDangerous: true,
    isConfirmed: true,
    about: () => 'Every request with it is refused from now on, and nothing brings the key back.',
  },
  'end-grace': {
    title: (name) => `End the old secret of ${name}?`,
    verb: 'End now',
    done: (name) => `The old secret of ${name} has ended.`,
    isDangerous: true,
    about: (key) => (
      <>
        <OldUse of={key} /> Who uses it is refused from the next request on.
      </>
    ),
  },
} as const satisfies Readonly<Record<string, Act>>

const FORMS = { edit: EditKey, grant: GrantCredits, rotate: RotateKey }

export type ActName = keyof typeof ACTS | keyof typeof FORMS

/** A dialog works on the key as it was when the dialog opened, even if the page learns of changes meanwhile. */
export function KeyDialog({ act, of: now, ...rest }: KeyDialogProps & { readonly act: ActName }): VNode {
  const [key] = useState(now)
  if (!isPlain(act)) {
    const Form = FORMS[act]
    return <Form of={key} {...rest} />
  }
  return <PlainAct act={act} of={key} {...rest} />
}

function isPlain(act: ActName): act is keyof typeof ACTS {
  return Object.hasOwn(ACTS, act)
}

function PlainAct({ act, of: key, onDone, onClose }: KeyDialogProps & { readonly act: keyof typeof ACTS }) {
  const { title, verb, done, isDangerous, isConfirmed, about }: Act = ACTS[act]
  const [confirm, setConfirm] = useState('')
  const send = async (idempotencyKey: string) => {
    const body: RevokeBody | undefined = isConfirmed ? { confirm } : undefined
    const now = await post<KeyDetail>(`${keyPath(key.id)}/${act}`, idempotencyKey, body)
    announce(done(key.name))
    onDone(now)
  }
  return (
    <ActDialog
      title={title(key.name)}
      verb={verb}
      isDangerous={isDangerous}
      isReady={!isConfirmed || confirm === key.name}
      onAct={send}
      onClose={onClose}
    >
      <p>{about(key)}</p>
      {isConfirmed && (
        <Field label={`Type its name, ${key.name}, to go on`} value={confirm} onInput={setConfirm} required />
      )}
    </ActDialog>
  )
}

/** A revoked key has none. */
export function KeyActions({ of, onOpen }: { readonly of: KeyDetail; readonly onOpen: (act: ActName) => void }) {
  const pause: [ActName, string] = of.status === 'suspended' ? ['resume', 'Resume'] : ['suspend', 'Suspend']
  const buttons: readonly (readonly [ActName, string, string?])[] = [
    ['grant', 'Grant credits', 'primary'],
    ['edit', 'Change settings'],
    ['rotate', 'Rotate'],
    pause,
    ['revoke', 'Revoke', 'danger'],
  ]
  return (
    <>
      {buttons.map(([act, text, kind = '']) => (
        <Button key={act} class={kind} onClick={() => onOpen(act)}>
          {text}
        </Button>
      ))}
    </>
  )
}
