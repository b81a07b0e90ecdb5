import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { DerivedOperation } from '../../contract/derived.ts'
import { commandOf, findOperation } from '../../contract/operations.ts'
import { Command, Empty, OperationForm } from '../../parts/index.ts'
import { useMay } from '../../session/session.ts'
import { Page } from '../../shell/page.tsx'
import { useHome } from '../use-home.ts'
import { DangerForm } from './danger-form.tsx'
import { FileAnswer } from './file-answer.tsx'
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
  const home = useHome(operation.name)
  const may = useMay(operation.name)
  const [answer, setAnswer] = useState<unknown>(null)
  const { meta, fields, name } = operation
  const preset = Object.fromEntries(
    Object.entries(home).filter(([word]) => fields.some((field) => field.name === word)),
  )
  return (
    <div className="stack narrow">
      <p>{meta.summary}.</p>
      <Command text={meta.examples?.[0] === undefined ? commandOf(operation) : `spgw ${meta.examples[0]}`} />
      {may ? (
        <OperationBody
          key={`${home.project}/${home.environment}`}
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
