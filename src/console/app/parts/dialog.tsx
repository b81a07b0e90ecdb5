import { X } from 'lucide-react'
import { type FormEvent, type ReactNode, type SyntheticEvent, useEffect, useId, useRef, useState } from 'react'
import { IconButton } from './button.tsx'

export interface DialogProps {
  open: boolean
  title: ReactNode
  onClose(): void
  children: ReactNode
  /** At the foot: the buttons. */
  actions?: ReactNode
  variant?: 'dialog' | 'drawer'
}

/**
 * The browser's own dialog: it keeps the focus inside, ends on Escape, and gives the focus back. A form in which somebody
 * has written ends on the second Escape or by its button only, and not by a press beside it.
 */
export function Dialog({ open, title, onClose, children, actions, variant = 'dialog' }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  const isWritten = useRef(false)
  const [warns, setWarns] = useState(false)
  useEffect(() => {
    const dialog = element.current
    if (dialog === null) return
    isWritten.current = false
    setWarns(false)
    if (open && !dialog.open) {
      dialog.showModal()
      // The browser would choose the button that closes it: whoever opens a form is going to write.
      dialog.querySelector<HTMLElement>('.dialog-content :is(input, select, textarea):enabled')?.focus()
    }
    if (!open && dialog.open) dialog.close()
  }, [open])
  const noteInput = ({ target }: FormEvent) => {
    // A question that asks for a name is no form: nothing is lost with it.
    if (!(target instanceof Element) || target.closest('form.form') === null) return
    isWritten.current = true
    setWarns(false)
  }
  // What takes the place of a form, once it was sent, loses nothing.
  const mayLose = () => isWritten.current && element.current?.querySelector('form.form') != null
  const cancel = (event: SyntheticEvent) => {
    if (event.target !== element.current || !mayLose() || warns) return
    event.preventDefault()
    setWarns(true)
  }
  const pressBeside = () => {
    if (mayLose()) setWarns(true)
    else element.current?.close()
  }
  return (
    <dialog
      ref={element}
      className={variant}
      aria-labelledby={titleId}
      onClose={onClose}
      onInput={noteInput}
      onCancel={cancel}
      onPointerDown={(event) => event.target === element.current && pressBeside()}
    >
      {open ? (
        <div className="dialog-body">
          <header className="row spread dialog-head">
            <h2 id={titleId}>{title}</h2>
            <IconButton
              label="Close"
              icon={<X size={16} aria-hidden="true" />}
              onClick={() => element.current?.close()}
            />
          </header>
          {warns ? (
            <p className="dialog-warning small" role="alert">
              Nothing is saved yet. Press Escape or Close to discard what you wrote.
            </p>
          ) : null}
          <div className="dialog-content">{children}</div>
          {actions === undefined ? null : <footer className="row dialog-actions">{actions}</footer>}
        </div>
      ) : null}
    </dialog>
  )
}

/** A dialog at the side, for what is looked at beside the page. */
export function Drawer(props: Omit<DialogProps, 'variant'>) {
  return <Dialog {...props} variant="drawer" />
}
