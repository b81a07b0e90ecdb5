import { type ReactNode, useState } from 'react'
import { describeMissing } from '../../../admin/contract/show-reach.ts'
import { escapeControls } from '../../../admin/contract/show-value.ts'
import { callOperation } from '../client/admin.ts'
import { refreshConfiguration } from '../client/queries.ts'
import { operationNamed } from '../contract/operations.ts'
import { useMay } from '../session/session.ts'
import { Button, type ButtonVariant } from './button.tsx'
import { ConfirmDialog } from './confirm-dialog.tsx'
import { Dialog } from './dialog.tsx'
import { toast, toastFault } from './toast-store.ts'

interface OperationCall {
  operation: string
  input: Record<string, unknown>
  done: string
}

export interface OperationButtonProps {
  /** `keys.revoke` */
  operation: string
  input: Record<string, unknown>
  children: ReactNode
  /** The resource's name. A dangerous operation requires it to be typed. */
  name: string
  /** What will happen, and to how many things. An operation that is not dangerous asks where there is one, too. */
  consequence?: ReactNode
  /** Why the gateway would refuse now, and what to do first: said in place of the question. */
  refusal?: ReactNode
  /** What of it a configuration file manages, and which: it is forced then, for otherwise it is refused. */
  owned?: Readonly<Record<string, string>>
  /** The toast after success. */
  done?: string
  /** Takes it back; offered by the toast. */
  undo?: OperationCall
  onDone?: (answer: unknown) => void
  variant?: ButtonVariant
  small?: boolean
  icon?: ReactNode
  /** Whether the question is open, where the page keeps that itself. */
  asking?: boolean
  onAsk?(asking: boolean): void
}

/** A button that runs one operation. Dangerous ones ask first, in the contract's words. */
export function OperationButton(props: OperationButtonProps) {
  const { operation, name, children, done, undo, onDone, variant, small, icon } = props
  const files = [...new Set(Object.values(props.owned ?? {}))]
  const input = files.length === 0 ? props.input : { ...props.input, force: true }
  const { meta } = operationNamed(operation)
  const [opened, setOpened] = useState(false)
  const [busy, setBusy] = useState(false)
  const may = useMay(operation, typeof input.project === 'string' ? input.project : undefined)
  const run = async () => {
    setBusy(true)
    const answer = await runOperation(operation, input)
    setBusy(false)
    if (answer === failed) return
    const missing = describeMissing(operation, answer)
    if (missing !== null) toast({ tone: 'bad', title: done ?? titleOf(meta.summary), text: missing })
    else if (done !== undefined) sayDone(done, undo)
    onDone?.(answer)
  }
  const isDanger = meta.effect === 'danger'
  const asks = isDanger || props.consequence !== undefined || props.refusal !== undefined
  const asking = props.asking ?? opened
  const ask = props.onAsk ?? setOpened
  const word = typeof children === 'string' ? children : 'Confirm'
  return (
    <>
      <Button
        variant={variant ?? (isDanger ? 'danger' : 'plain')}
        small={small === true}
        icon={icon}
        busy={busy}
        disabled={!may}
        title={may ? undefined : `Requires the ${meta.role} role`}
        onClick={() => (asks ? ask(true) : void run())}
      >
        {children}
      </Button>
      <Question
        {...props}
        open={asking && may}
        files={files}
        title={isDanger ? titleOf(meta.summary) : `${word} ${name}`}
        word={word}
        onRun={run}
        onClose={() => ask(false)}
      />
    </>
  )
}

interface QuestionProps extends Pick<OperationButtonProps, 'operation' | 'input' | 'name' | 'consequence' | 'refusal'> {
  open: boolean
  /** That manage it. */
  files: readonly string[]
  title: string
  word: string
  onRun(): Promise<void>
  onClose(): void
}

/** Or why it would be refused, in place of the question. */
function Question({ operation, input, name, consequence, refusal, files, word, onRun, ...rest }: QuestionProps) {
  const dialog = { open: rest.open, title: rest.title, onClose: rest.onClose }
  const { meta } = operationNamed(operation)
  const isDanger = meta.effect === 'danger'
  if (refusal !== undefined)
    return (
      <Dialog {...dialog} actions={<Button onClick={dialog.onClose}>Close</Button>}>
        {refusal}
      </Dialog>
    )
  return (
    <ConfirmDialog {...dialog} confirm={word} {...(isDanger ? { name } : {})} onConfirm={onRun}>
      {isDanger ? <p>{fillIn(meta.confirm ?? meta.summary, nameThings(input, name))}</p> : null}
      {consequence}
      {files.length === 0 ? null : (
        <p className="notice notice-warning">
          Managed by the configuration files of owner {escapeControls(files.join(', '))}. Unless it is taken out of
          them, the next apply restores it.
        </p>
      )}
    </ConfirmDialog>
  )
}

const failed = Symbol('failed')

async function runOperation(operation: string, input: Record<string, unknown>): Promise<unknown> {
  const { meta, path } = operationNamed(operation)
  try {
    const answer = await callOperation(path, input)
    if (meta.effect !== 'read') void refreshConfiguration()
    return answer
  } catch (error) {
    toastFault(error)
    return failed
  }
}

function sayDone(title: string, undo: OperationCall | undefined): void {
  if (undo === undefined) return toast({ tone: 'good', title })
  const run = async () => {
    if ((await runOperation(undo.operation, undo.input)) !== failed) toast({ tone: 'good', title: undo.done })
  }
  toast({ tone: 'good', title, action: { title: 'Undo', run: () => void run() } })
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
