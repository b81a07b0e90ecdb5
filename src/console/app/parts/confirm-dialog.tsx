import { type FormEvent, type ReactNode, useId, useState } from 'react'
import { escapeControls } from '../../../admin/contract/show-value.ts'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'

export interface ConfirmDialogProps {
  open: boolean
  title: ReactNode
  /** What will happen, and to how many things. */
  children: ReactNode
  /** The word on the button: what it does. */
  confirm: string
  /** Must be typed first: the name of what is lost. */
  name?: string
  onConfirm(): Promise<void>
  onClose(): void
}

export function ConfirmDialog({ open, title, children, confirm, name, onConfirm, onClose }: ConfirmDialogProps) {
  const [typed, setTyped] = useState('')
  const [busy, setBusy] = useState(false)
  const form = useId()
  const close = () => {
    setTyped('')
    onClose()
  }
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    try {
      await onConfirm()
    } finally {
      setBusy(false)
    }
    close()
  }
  const actions = (
    <>
      <Button onClick={close}>Cancel</Button>
      <Button variant="danger" type="submit" form={form} busy={busy} disabled={name !== undefined && typed !== name}>
        {confirm}
      </Button>
    </>
  )
  return (
    <Dialog open={open} title={title} onClose={close} actions={actions}>
      <form id={form} className="stack" onSubmit={(event) => void submit(event)}>
        <div>{children}</div>
        {name === undefined ? null : <NameField name={name} typed={typed} onType={setTyped} />}
      </form>
    </Dialog>
  )
}

function NameField({ name, typed, onType }: { name: string; typed: string; onType(text: string): void }) {
  const id = useId()
  return (
    <div className="field">
      <label htmlFor={id}>
        Type <code>{escapeControls(name)}</code> to confirm
      </label>
      <input
        id={id}
        className="input"
        autoComplete="off"
        spellCheck={false}
        value={typed}
        onChange={(event) => onType(event.target.value)}
      />
    </div>
  )
}
