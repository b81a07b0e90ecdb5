import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { RotateCw } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import type { Compared, ReplayDifference, ReplayedEvent } from '../../../../admin/contract/requests/request-replay.ts'
import { escapeControls } from '../../../../admin/contract/show-value.ts'
import { orpc } from '../../client/admin.ts'
import type { RequestRow } from '../../live/status-output.ts'
import { Button, Code, Dialog, Duration, FaultNotice, Money, OperationForm, UntrustedName } from '../../parts/index.ts'
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
  const providers = useQuery(orpc.providers.list.queryOptions({ input: {} }))
  const follow = async (events: AsyncIterable<ReplayedEvent>) => {
    setOutcome({ state: 'in progress' })
    try {
      setOutcome({ state: 'done', event: await lastOf(events) })
    } catch (error) {
      setOutcome({ state: 'failed', error })
    }
  }
  if (outcome?.state === 'done') return <Outcome event={outcome.event} />
  return (
    <div className="stack">
      {outcome?.state === 'failed' ? <FaultNotice error={outcome.error} /> : null}
      <OperationForm
        operation="requests.replay"
        fixed={{ id: record.id }}
        fields={record.model === null ? ['key', 'provider'] : ['key', 'provider', 'model']}
        suggestions={{ key: namesOf(keys.data), provider: namesOf(providers.data) }}
        submit="Replay"
        onCancel={onClose}
        // The operation's answer is a stream of its events.
        onDone={(answer) => follow(answer as AsyncIterable<ReplayedEvent>)}
      />
      {outcome === null || outcome.state === 'failed' ? null : <Loading what="Waiting for the response" />}
    </div>
  )
}

/** It takes the place of the form, and so its focus. */
function Outcome({ event }: { event: ComparedEvent | null }) {
  const element = useRef<HTMLElement>(null)
  useEffect(() => element.current?.focus(), [])
  return (
    <section ref={element} tabIndex={-1} aria-label="Replay">
      {event === null ? <p>The request was sent, but it has no record.</p> : <Both event={event} />}
    </section>
  )
}

const namesOf = (rows: readonly { name: string }[] | undefined) => rows?.map(({ name }) => name) ?? []

async function lastOf(events: AsyncIterable<ReplayedEvent>): Promise<ComparedEvent | null> {
  let last: ComparedEvent | null = null
  for await (const event of events) if (event.kind === 'compared') last = event
  return last
}

interface ComparedRow {
  title: string
  render(one: Compared): React.ReactNode
  /** What the second has more; null: that is not known, or makes no sense. */
  more?(difference: ReplayDifference): { value: number | null; render(value: number): React.ReactNode }
}

const milliseconds = (ms: number) => <Duration ms={ms} />
const plain = (value: number) => value.toLocaleString('en-US')
const shown = (value: number | null) => (value === null ? 'None' : plain(value))

const rows: readonly ComparedRow[] = [
  {
    title: 'Request',
    render: ({ request_id }) => (
      <Link to="/requests/$id" params={{ id: request_id }} search={keepScope}>
        {`…${request_id.slice(-6)}`}
      </Link>
    ),
  },
  { title: 'Status', render: ({ status }) => status ?? 'None' },
  { title: 'Model', render: ({ model }) => <UntrustedName text={model} /> },
  {
    title: 'Served by',
    render: ({ provider, upstream_model }) => (
      <UntrustedName text={provider && `${provider}/${upstream_model ?? ''}`} />
    ),
  },
  {
    title: 'First byte',
    render: ({ first_byte_ms }) => <Duration ms={first_byte_ms} />,
    more: ({ first_byte_ms }) => ({ value: first_byte_ms, render: milliseconds }),
  },
  {
    title: 'Total',
    render: ({ duration_ms }) => <Duration ms={duration_ms} />,
    more: ({ duration_ms }) => ({ value: duration_ms, render: milliseconds }),
  },
  {
    title: 'Input tokens',
    render: ({ input }) => shown(input),
    more: ({ input }) => ({ value: input, render: plain }),
  },
  {
    title: 'Output tokens',
    render: ({ output }) => shown(output),
    more: ({ output }) => ({ value: output, render: plain }),
  },
  {
    title: 'Cost',
    render: ({ cost_usd }) => <Money usd={cost_usd} />,
    more: ({ cost_usd }) => ({ value: cost_usd, render: (usd) => <Money usd={usd} /> }),
  },
]

function Both({ event: { before, after, difference, text } }: { event: ComparedEvent }) {
  return (
    <div className="stack">
      <p className="breakable">{escapeControls(text)}</p>
      <table className="table replay-table">
        <thead>
          <tr>
            <th scope="col">Field</th>
            <th scope="col">Original</th>
            <th scope="col">Replay</th>
            <th scope="col">Change</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ title, render, more }) => (
            <tr key={title} className={more === undefined ? undefined : 'replay-figures'}>
              <th scope="row">{title}</th>
              <td>{render(before)}</td>
              <td colSpan={more === undefined ? 2 : 1}>{render(after)}</td>
              {more === undefined ? null : (
                <td>
                  <More {...more(difference)} />
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
      {before.answer !== null && before.answer === after.answer ? (
        <Answer title="Response (identical)" text={after.answer} />
      ) : (
        <div className="replay-answers">
          <MarkedAnswer title="Original response" text={before.answer} parts={difference.answer} leave="added" />
          <MarkedAnswer title="Replayed response" text={after.answer} parts={difference.answer} leave="removed" />
        </div>
      )}
    </div>
  )
}

function More({ value, render }: { value: number | null; render(value: number): React.ReactNode }) {
  if (value === null || value === 0) return null
  return (
    <>
      {value > 0 ? '+' : '−'}
      {render(Math.abs(value))}
    </>
  )
}

interface MarkedAnswerProps {
  title: string
  text: string | null
  parts: ReplayDifference['answer']
  /** What only the other one has. */
  leave: 'added' | 'removed'
}

/** A model may answer anything: it is text, whatever it looks like. */
function MarkedAnswer({ title, text, parts, leave }: MarkedAnswerProps) {
  if (text === null || parts === null) return <Answer title={title} text={text ?? 'Not stored.'} />
  return (
    <section className="stack-tight">
      <h3>{title}</h3>
      <pre className="replay-text">
        {parts.map(({ kind, text: part }, place) => {
          const readable = part.split('\n').map(escapeControls).join('\n')
          // Parts have no name but their place, and do not move.
          const key = `${place} ${kind}`
          if (kind === leave) return null
          if (kind === 'same') return <span key={key}>{readable}</span>
          return kind === 'removed' ? <del key={key}>{readable}</del> : <ins key={key}>{readable}</ins>
        })}
      </pre>
    </section>
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
