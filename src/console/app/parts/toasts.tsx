import { X } from 'lucide-react'
import { useSyncExternalStore } from 'react'
import { escapeControls } from '../../../admin/contract/show-value.ts'
import { Button, IconButton } from './button.tsx'
import { closeToast, readToasts, subscribeToasts, type Toast } from './toast-store.ts'

/** Stands once in the shell. */
export function Toasts() {
  const toasts = useSyncExternalStore(subscribeToasts, readToasts)
  return (
    <div className="toasts" role="status" aria-live="polite">
      {toasts.map((toast) => (
        <ToastCard key={toast.id} toast={toast} />
      ))}
    </div>
  )
}

function ToastCard({ toast }: { toast: Toast }) {
  return (
    <div className={`toast toast-${toast.tone}`}>
      <div className="grow">
        <p className="toast-title">{escapeControls(toast.title)}</p>
        {toast.text ? <p className="quiet">{escapeControls(toast.text)}</p> : null}
        {toast.code ? (
          <p className="small quiet">
            <code>{toast.code}</code>
            {toast.requestId ? <code> {toast.requestId}</code> : null}
          </p>
        ) : null}
      </div>
      {toast.action === undefined ? null : (
        <Button
          small
          onClick={() => {
            closeToast(toast.id)
            toast.action?.run()
          }}
        >
          {toast.action.title}
        </Button>
      )}
      <IconButton small label="Close" icon={<X size={14} aria-hidden="true" />} onClick={() => closeToast(toast.id)} />
    </div>
  )
}
