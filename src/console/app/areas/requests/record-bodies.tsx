import { useQuery } from '@tanstack/react-query'
import { Eye } from 'lucide-react'
import { wereCaptured, whyNoBodies } from '../../../../admin/contract/requests/why-no-bodies.ts'
import { escapeControls, formatValue } from '../../../../admin/contract/show-value.ts'
import type { MissingBodies } from '../../../../core/capture.ts'
import { indentJson } from '../../../../core/json/indent-json.ts'
import { orpc } from '../../client/admin.ts'
import type { RequestRow } from '../../live/status-output.ts'
import { Button, Code, Command, QueryFault, Time } from '../../parts/index.ts'
import { useMay } from '../../session/session.ts'
import type { RequestBodies, ShownRequest } from '../outputs.ts'

/** The captured bodies, for admins and on request only. */
export function RecordBodies({ record }: { record: RequestRow }) {
  const shown = useQuery(bodiesQuery(record.id))
  return (
    <section className="card" aria-label="Bodies">
      <h2 className="card-head">Bodies</h2>
      <QueryFault of={shown} />
      <Kept record={record} shown={shown.data} busy={shown.isFetching} onShow={() => void shown.refetch()} />
    </section>
  )
}

interface KeptProps {
  record: RequestRow
  /** undefined: not requested yet. */
  shown: Pick<ShownRequest, 'bodies' | 'bodies_missing' | 'bodies_until'> | undefined
  busy: boolean
  onShow(): void
}

function Kept({ record, shown, busy, onShow }: KeptProps) {
  const { bodies, bodies_missing: missing = null, bodies_until: until } = shown ?? {}
  // Whoever may send it again may read it: the role is the same.
  const may = useMay('requests.replay', record.project)
  if (bodies === null || (bodies === undefined && !wereCaptured(record)))
    return <NotKept record={record} missing={missing} />
  if (bodies === undefined)
    return may ? (
      <div className="row">
        <Button icon={<Eye size={14} aria-hidden="true" />} busy={busy} onClick={onShow}>
          Show bodies
        </Button>
        <span className="small quiet">Each view is recorded in the audit log.</span>
      </div>
    ) : (
      <p className="quiet">Bodies were captured. Viewing them requires the admin role.</p>
    )
  const { request, answer } = bodies
  return (
    <div className="stack">
      {request === null ? null : (
        <Body title={`Request: ${request.method} ${request.path}`} copy="Copy request" body={request} />
      )}
      {answer === null ? (
        <p className="quiet">No response was sent.</p>
      ) : (
        <Body title="Response" copy="Copy response" body={answer} />
      )}
      {until === undefined ? null : (
        <p className="small quiet">
          Deleted at the latest <Time at={until} />.
        </p>
      )}
    </div>
  )
}

function NotKept({ record, missing }: { record: RequestRow; missing: MissingBodies | null }) {
  const { reason, hint } = whyNoBodies(record, missing)
  // What is to be typed is to be copied.
  const [, words = hint, command = null] = /^(.*:) (spgw .*)$/.exec(hint) ?? []
  return (
    <div className="stack-tight">
      <p className="quiet breakable">
        <bdi>{escapeControls(reason)}</bdi> <bdi>{escapeControls(words)}</bdi>
      </p>
      {command === null ? null : <Command text={escapeControls(command)} />}
    </div>
  )
}

function Body({ title, copy, body }: { title: string; copy: string; body: NonNullable<RequestBodies['answer']> }) {
  const about = `${body.type ?? 'no content type'}, ${formatValue(body.bytes, 'bytes', { now: 0, utc: true })}`
  const notes = [body.truncated ? 'truncated' : '', body.masked ? 'secrets or personal data masked' : ''].filter(
    (note) => note !== '',
  )
  return (
    <details className="fold" open>
      <summary className="breakable">
        <bdi>{escapeControls(title)}</bdi>{' '}
        <span className="small quiet">{escapeControls([about, ...notes].join(', '))}</span>
      </summary>
      {body.content === null ? (
        <p className="quiet">Not text. Only its type and size are kept.</p>
      ) : (
        <Code text={printable(body.content)} label={copy} />
      )}
    </details>
  )
}

/** JSON set out for people; what turns text about or hides it is shown, not obeyed. */
function printable(content: string): string {
  return (indentJson(content) ?? content.trimEnd())
    .split(/\r\n|\r|\n/)
    .map(escapeControls)
    .join('\n')
}

/** The bodies. Every read is audited, so they are read once, on request. */
export const bodiesQuery = (id: string) => ({
  ...orpc.requests.show.queryOptions({ input: { id, bodies: true } }),
  enabled: false,
  staleTime: Number.POSITIVE_INFINITY,
})
