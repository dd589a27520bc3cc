import { useState } from 'preact/hooks'
import { Button } from './controls.tsx'
import { Dialog } from './dialog.tsx'
import { Facts } from './panel.tsx'
import { SHORTCUTS, useShortcut } from './shortcuts.ts'

export function Help() {
  const [isOpen, setOpen] = useState(false)
  const close = () => setOpen(false)
  useShortcut('help', () => setOpen(true))
  return [
    <Button aria-label="Keyboard shortcuts" onClick={() => setOpen(true)}>
      ?
    </Button>,
    isOpen && (
      <Dialog title="Keyboard shortcuts" onClose={close}>
        <Facts of={Object.values(SHORTCUTS).map(({ shown, words }) => [shown, words])} />
        <div class="row actions">
          <Button onClick={close}>Close</Button>
        </div>
      </Dialog>
    ),
  ]
}
