import { type ReactNode, useState } from 'react'
import { escapeControls } from '../../../admin/contract/show-value.ts'
import { callOperation } from '../client/admin.ts'
import { refreshConfiguration } from '../client/queries.ts'
import { operationNamed } from '../contract/operations.ts'
import { useMay } from '../session/session.ts'
import { Button, type ButtonVariant } from './button.tsx'
import { ConfirmDialog } from './confirm-dialog.tsx'
import { toast, toastFault } from './toast-store.ts'

export interface OperationButtonProps {
  /** `keys.revoke` */
  operation: string
  input: Record<string, unknown>
  children: ReactNode
  /** The resource's name. A dangerous operation requires it to be typed. */
  name: string
  /** What will happen, and to how many things. */
  consequence?: ReactNode
  /** The toast after success. */
  done?: string
  onDone?: (answer: unknown) => void
  variant?: ButtonVariant
  small?: boolean
  icon?: ReactNode
}

/** A button that runs one operation. Dangerous ones ask first, in the contract's words. */
export function OperationButton(props: OperationButtonProps) {
  const { operation, input, name, children, done, onDone, variant, small, icon } = props
  const { meta, path } = operationNamed(operation)
  const [asking, setAsking] = useState(false)
  const [busy, setBusy] = useState(false)
  const may = useMay(operation, typeof input.project === 'string' ? input.project : undefined)
  const run = async () => {
    setBusy(true)
    try {
      const answer = await callOperation(path, input)
      if (meta.effect !== 'read') void refreshConfiguration()
      if (done !== undefined) toast({ tone: 'good', title: done })
      onDone?.(answer)
    } catch (error) {
      toastFault(error)
    } finally {
      setBusy(false)
    }
  }
  const isDanger = meta.effect === 'danger'
  return (
    <>
      <Button
        variant={variant ?? (isDanger ? 'danger' : 'plain')}
        small={small === true}
        icon={icon}
        busy={busy}
        disabled={!may}
        title={may ? undefined : `Requires the ${meta.role} role`}
        onClick={() => (isDanger ? setAsking(true) : void run())}
      >
        {children}
      </Button>
      <ConfirmDialog
        open={asking}
        title={titleOf(meta.summary)}
        confirm={typeof children === 'string' ? children : 'Confirm'}
        name={name}
        onConfirm={run}
        onClose={() => setAsking(false)}
      >
        <p>{fillIn(meta.confirm ?? meta.summary, nameThings(input, name))}</p>
        {props.consequence}
      </ConfirmDialog>
    </>
  )
}

/** A summary without what it adds after its first clause: `Remove a provider`. */
export function titleOf(summary: string): string {
  return summary.split(/[;,(]/, 1)[0]?.trim() ?? summary
}

/** The input has IDs; the question shows names. */
function nameThings(input: Record<string, unknown>, name: string): Record<string, unknown> {
  const isId = (value: unknown) => typeof value === 'string' && /^[a-z]{3}_[0-9a-z]{20,}$/.test(value)
  return Object.fromEntries(Object.entries(input).map(([field, value]) => [field, isId(value) ? name : value]))
}

/** `{field}` is filled from the input. */
export function fillIn(text: string, input: Record<string, unknown>): string {
  return escapeControls(text.replace(/\{(\w+)\}/g, (_, field: string) => String(input[field] ?? field)))
}
