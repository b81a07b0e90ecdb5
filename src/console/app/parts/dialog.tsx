import { X } from 'lucide-react'
import { type ReactNode, useEffect, useId, useRef } from 'react'
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

/** The browser's own dialog: it keeps the focus inside, ends on Escape, and gives the focus back. */
export function Dialog({ open, title, onClose, children, actions, variant = 'dialog' }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  useEffect(() => {
    const dialog = element.current
    if (dialog === null) return
    if (open && !dialog.open) {
      dialog.showModal()
      // The browser would choose the button that closes it: whoever opens a form is going to write.
      dialog.querySelector<HTMLElement>('.dialog-content :is(input, select, textarea):enabled')?.focus()
    }
    if (!open && dialog.open) dialog.close()
  }, [open])
  return (
    <dialog
      ref={element}
      className={variant}
      aria-labelledby={titleId}
      onClose={onClose}
      onPointerDown={(event) => event.target === element.current && element.current?.close()}
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
          <div className="dialog-content">{children}</div>
          {actions === undefined ? null : <footer className="row dialog-actions">{actions}</footer>}
        </div>
      ) : null}
    </dialog>
  )
}

/** A dialog at the side, for what is looked at beside the page. */
export function Drawer(props: Omit<DialogProps, 'look'>) {
  return <Dialog {...props} variant="drawer" />
}
