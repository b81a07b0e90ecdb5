import { CircleX } from 'lucide-react'
import { escapeControls } from '../../../admin/contract/show-value.ts'
import { type Fault, faultOf } from '../client/fault.ts'
import { Button } from './button.tsx'

/** What went wrong: cause, what to do, code, and where there is one a way to try again. */
export function FaultNotice({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  return <FaultView fault={faultOf(error)} {...(onRetry === undefined ? {} : { onRetry })} />
}

export function FaultView({ fault, onRetry }: { fault: Fault; onRetry?: () => void }) {
  return (
    <div className="notice notice-bad" role="alert">
      <CircleX size={16} aria-hidden="true" />
      <div className="grow">
        <p className="notice-title">{escapeControls(fault.message)}</p>
        {fault.code === 'not_signed_in' ? (
          <p>
            <a href="/sign-in" target="_blank" rel="noreferrer">
              Sign in in another tab
            </a>
            , then try again. What you typed stays here.
          </p>
        ) : (
          <p>{escapeControls(fault.hint)}</p>
        )}
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
