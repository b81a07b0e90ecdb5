import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { RotateCw } from 'lucide-react'
import { useState } from 'react'
import type { Compared, ReplayedEvent } from '../../../../admin/contract/requests/request-replay.ts'
import { escapeControls } from '../../../../admin/contract/show-value.ts'
import { orpc } from '../../client/admin.ts'
import type { RequestRow } from '../../live/status-output.ts'
import { Button, Code, Dialog, Duration, FaultNotice, OperationForm, UntrustedText } from '../../parts/index.ts'
import { useMay } from '../../session/session.ts'
import { keepScope } from '../../shell/keys.ts'
import { Loading } from '../../shell/page.tsx'

type ReplayOutcome =
  | { state: 'in progress' }
  | { state: 'failed'; error: unknown }
  | { state: 'done'; event: ComparedEvent | null }
type ComparedEvent = Extract<ReplayedEvent, { kind: 'compared' }>

/** Asks as whom and with which model, sends, and shows both requests beside one another. */
export function Replay({ record, onClose }: { record: RequestRow; onClose(): void }) {
  const [outcome, setOutcome] = useState<ReplayOutcome | null>(null)
  const scope = { project: record.project ?? 'default', environment: record.environment ?? 'production' }
  const keys = useQuery(orpc.keys.list.queryOptions({ input: scope }))
  const follow = async (events: AsyncIterable<ReplayedEvent>) => {
    setOutcome({ state: 'in progress' })
    try {
      setOutcome({ state: 'done', event: await lastOf(events) })
    } catch (error) {
      setOutcome({ state: 'failed', error })
    }
  }
  if (outcome === null || outcome.state === 'failed')
    return (
      <div className="stack">
        {outcome === null ? null : <FaultNotice error={outcome.error} />}
        <OperationForm
          operation="requests.replay"
          fixed={{ id: record.id }}
          fields={record.model === null ? ['key', 'provider'] : ['key', 'model']}
          suggestions={{ key: keys.data?.map(({ name }) => name) ?? [] }}
          submit="Replay"
          onCancel={onClose}
          // The operation's answer is a stream of its events.
          onDone={(answer) => void follow(answer as AsyncIterable<ReplayedEvent>)}
        />
      </div>
    )
  if (outcome.state === 'in progress') return <Loading />
  return outcome.event === null ? <p>The request was sent, but it has no record.</p> : <Both event={outcome.event} />
}

async function lastOf(events: AsyncIterable<ReplayedEvent>): Promise<ComparedEvent | null> {
  let last: ComparedEvent | null = null
  for await (const event of events) if (event.kind === 'compared') last = event
  return last
}

const rows: readonly { title: string; render(one: Compared): React.ReactNode }[] = [
  {
    title: 'Request',
    render: ({ request_id }) => (
      <Link to="/requests/$id" params={{ id: request_id }} search={keepScope}>
        {`…${request_id.slice(-6)}`}
      </Link>
    ),
  },
  { title: 'Status', render: ({ status }) => status ?? 'None' },
  { title: 'Model', render: ({ model }) => <UntrustedText text={model} /> },
  {
    title: 'Served by',
    render: ({ provider, upstream_model }) => (
      <UntrustedText text={provider && `${provider}/${upstream_model ?? ''}`} />
    ),
  },
  { title: 'First byte', render: ({ first_byte_ms }) => <Duration ms={first_byte_ms} /> },
  { title: 'Total', render: ({ duration_ms }) => <Duration ms={duration_ms} /> },
  {
    title: 'Tokens',
    render: ({ input, output }) => (input === null ? 'None' : `${input} input, ${output ?? 0} output`),
  },
]

function Both({ event: { before, after, text } }: { event: ComparedEvent }) {
  return (
    <div className="stack">
      <p className="breakable">{escapeControls(text)}</p>
      <table className="table">
        <thead>
          <tr>
            <th scope="col">Field</th>
            <th scope="col">Original</th>
            <th scope="col">Replay</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ title, render }) => (
            <tr key={title}>
              <th scope="row">{title}</th>
              <td>{render(before)}</td>
              <td>{render(after)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {before.answer === after.answer ? null : <Answer title="Original response" text={before.answer} />}
      <Answer
        title={before.answer === after.answer ? 'Response (identical)' : 'Replayed response'}
        text={after.answer}
      />
    </div>
  )
}

function Answer({ title, text }: { title: string; text: string | null }) {
  if (text === null) return null
  return (
    <section className="stack-tight">
      <h3>{title}</h3>
      <Code text={text.split('\n').map(escapeControls).join('\n')} label="Copy text" />
    </section>
  )
}

export function ReplayButton({ record }: { record: RequestRow }) {
  const [open, setOpen] = useState(false)
  if (!useMay('requests.replay', record.project)) return null
  return (
    <>
      <Button
        icon={<RotateCw size={14} aria-hidden="true" />}
        title="Send the captured request again"
        onClick={() => setOpen(true)}
      >
        Replay
      </Button>
      <Dialog open={open} title="Replay request" onClose={() => setOpen(false)}>
        <Replay record={record} onClose={() => setOpen(false)} />
      </Dialog>
    </>
  )
}
