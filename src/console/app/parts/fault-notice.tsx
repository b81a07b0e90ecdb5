import { CircleX } from 'lucide-react'
import { escapeControls } from '../../../admin/contract/show-value.ts'
import { faultOf } from '../client/fault.ts'
import { Button } from './button.tsx'

/** Where something could not be read: cause, what to do, code, and a way to try again. */
export function FaultNotice({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const fault = faultOf(error)
  return (
    <div className="notice notice-bad" role="alert">
      <CircleX size={16} aria-hidden="true" />
      <div className="grow">
        <p className="notice-title">{escapeControls(fault.message)}</p>
        <p>{escapeControls(fault.hint)}</p>
        <p className="small quiet">
          <code>{fault.code}</code>
          {fault.requestId === null ? null : <code> {fault.requestId}</code>}
        </p>
      </div>
      {onRetry === undefined ? null : (
        <Button small onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  )
}
