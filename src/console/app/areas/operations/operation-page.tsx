import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { escapeControls } from '../../../../admin/contract/show-value.ts'
import { admin } from '../../client/admin.ts'
import type { DerivedOperation } from '../../contract/derived.ts'
import { commandOf, findOperation } from '../../contract/operations.ts'
import { Button, Command, ConfirmDialog, Empty, OperationForm, useOperation } from '../../parts/index.ts'
import { fillIn, titleOf } from '../../parts/operation-button.tsx'
import { useMay } from '../../session/session.ts'
import { Page } from '../../shell/page.tsx'
import { DownloadProgress, datedName, useDownload } from '../download.tsx'
import { useDefaultScope } from '../use-default-scope.ts'
import { findRefusal } from './find-refusal.ts'
import { InputForm } from './input-form.tsx'
import { LiveAnswer } from './live-answer.tsx'
import { OperationAnswer } from './operation-answer.tsx'

const route = getRouteApi('/app/settings/operations/$operation')

/** One operation: its form, and its answer as the contract says it is shown. */
export function OperationPage() {
  const { operation: name } = route.useParams()
  const operation = findOperation(name)
  const above = <Link to="/settings/operations">All operations</Link>
  if (operation === undefined)
    return (
      <Page title={name} above={above}>
        <Empty title="Operation not found" action={<Link to="/settings/operations">All operations</Link>} />
      </Page>
    )
  return (
    <Page title={operation.path.join(' ')} above={above}>
      <Operation key={name} operation={operation} />
    </Page>
  )
}

function Operation({ operation }: { operation: DerivedOperation }) {
  const defaultScope = useDefaultScope(operation.name)
  const may = useMay(operation.name)
  const [answer, setAnswer] = useState<unknown>(null)
  const { meta, fields, name } = operation
  const preset = Object.fromEntries(
    Object.entries(defaultScope).filter(([word]) => fields.some((field) => field.name === word)),
  )
  return (
    <div className="stack narrow">
      <p>{meta.summary}.</p>
      <Command text={meta.examples?.[0] === undefined ? commandOf(operation) : `spgw ${meta.examples[0]}`} />
      {may ? (
        <OperationBody
          key={`${defaultScope.project}/${defaultScope.environment}`}
          operation={operation}
          preset={preset}
          onAnswer={setAnswer}
        />
      ) : (
        <p className="notice notice-warning">
          Requires the {meta.role} role
          {meta.reach === 'workspace' ? ' for the whole workspace' : ''}.
        </p>
      )}
      {answer === null ? null : (
        <OperationAnswer key={JSON.stringify(answer).length} show={meta.show} answer={answer} name={name} />
      )}
    </div>
  )
}

interface BodyProps {
  operation: DerivedOperation
  preset: Record<string, string>
  onAnswer(answer: unknown): void
}

function OperationBody({ operation, preset, onAnswer }: BodyProps) {
  const { meta, name } = operation
  if (meta.show.as === 'live')
    return (
      <LiveAnswer
        operation={operation}
        preset={preset}
        columns={meta.show.columns}
        idle={meta.show.idle ?? 'Waiting for events.'}
      />
    )
  if (meta.show.as === 'file') return <FileAnswer operation={operation} preset={preset} name={meta.show.name} />
  if (meta.effect === 'danger') return <DangerForm operation={operation} preset={preset} onAnswer={onAnswer} />
  return <OperationForm operation={name} preset={preset} submit="Run" onDone={onAnswer} />
}

interface DangerFormProps {
  operation: DerivedOperation
  preset: Record<string, string>
  onAnswer(answer: unknown): void
}

/** Asks before it does what cannot be taken back. */
export function DangerForm({ operation, preset, onAnswer }: DangerFormProps) {
  const { meta, name } = operation
  const [pending, setPending] = useState<Record<string, unknown> | null>(null)
  const [refusal, setRefusal] = useState<string | null>(null)
  const { call, fault } = useOperation(name)
  const ask = async (input: Record<string, unknown>) => {
    const reason = await findRefusal(admin, name, input)
    setRefusal(reason)
    if (reason === null) setPending(input)
  }
  const run = async () => {
    const answer = await call(pending ?? {})
    if (answer !== null) onAnswer(answer)
  }
  const verb = meta.summary.split(/[ ;,]/, 1)[0] ?? 'Run'
  const first = meta.positional?.[0]
  const touched = first === undefined ? undefined : pending?.[first]
  return (
    <>
      <InputForm
        operation={operation}
        preset={preset}
        // The form cannot take the focus while the question is open.
        fault={pending === null ? fault : null}
        onInput={(input) => void ask(input)}
      >
        <Button variant="danger" type="submit">
          {verb}
        </Button>
      </InputForm>
      {refusal === null ? null : (
        <p className="notice notice-warning" role="alert">
          {escapeControls(refusal)}
        </p>
      )}
      <ConfirmDialog
        open={pending !== null}
        title={titleOf(meta.summary)}
        confirm={verb}
        {...(typeof touched === 'string' ? { name: touched } : {})}
        onConfirm={run}
        onClose={() => setPending(null)}
      >
        <p>{fillIn(meta.confirm ?? meta.summary, pending ?? {})}</p>
      </ConfirmDialog>
    </>
  )
}

interface FileAnswerProps {
  operation: DerivedOperation
  preset: Record<string, string>
  /** What the file is called, before the time. */
  name: string
}

/** A result that is a file: saved when it is complete. */
export function FileAnswer({ operation, preset, name }: FileAnswerProps) {
  const ending = operation.name.startsWith('backup') ? 'backup' : 'jsonl'
  const { download, fault, start, stop } = useDownload(operation.path, datedName(name, ending))
  const busy = download.state === 'preparing' || download.state === 'receiving'
  return (
    <div className="stack">
      <InputForm operation={operation} preset={preset} fault={fault} onInput={(input) => void start(input)}>
        <Button variant="primary" type="submit" busy={busy}>
          Download
        </Button>
        <Button disabled={!busy} onClick={stop}>
          Cancel
        </Button>
      </InputForm>
      <DownloadProgress download={download} />
    </div>
  )
}
