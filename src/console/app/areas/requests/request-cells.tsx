import { escapeControls, formatValue } from '../../../../admin/contract/show-value.ts'
import type { RequestRow } from '../../live/status-output.ts'
import { Duration, Id, Missing, Money, StateBadge, type TableColumn, Time, UntrustedText } from '../../parts/index.ts'

/** In progress, its status with the error code, or interrupted by a gateway crash. */
export function RequestState({ row, short = false }: { row: RequestRow; short?: boolean }) {
  if (row.state === 'admitted')
    return <StateBadge state={row.streamed ? 'streaming' : 'in progress'} tone="strong" busy />
  if (row.state === 'interrupted') return <StateBadge state="interrupted" tone="bad" />
  const code = short ? null : (row.error?.code ?? null)
  const tries = row.attempts.length
  return (
    <span className="row request-state">
      <StateBadge state={row.status ?? 'no status'} code={code} tone={toneOfRequest(row)} />
      {tries > 1 ? (
        <span className="quiet nowrap" title={`${tries} attempts`}>
          ↻{tries - 1}
        </span>
      ) : null}
    </span>
  )
}

export function toneOfRequest({ status, error }: RequestRow): 'good' | 'warning' | 'bad' {
  if (error === null && status !== null && status < 400) return 'good'
  return status !== null && status < 500 ? 'warning' : 'bad'
}

/** `gpt-4o-mini → azure (fallback)` */
export function ModelServed({ row }: { row: RequestRow }) {
  const first = row.attempts[0]
  const fellBack = first !== undefined && row.provider !== null && first.provider !== row.provider
  const upstream = row.upstream_model !== null && row.upstream_model !== row.model ? `:${row.upstream_model}` : ''
  const served = row.provider === null ? '' : `${row.provider}${upstream}`
  return (
    <span className="truncate" title={escapeControls(`${row.model ?? 'no model'}${served && ` → ${served}`}`)}>
      <UntrustedText text={row.model} />
      {served === '' ? null : (
        <span className="quiet wide-only">
          {' → '}
          <bdi>{escapeControls(served)}</bdi>
          {fellBack ? ' (fallback)' : null}
        </span>
      )}
    </span>
  )
}

function Tokens({ row }: { row: RequestRow }) {
  const { tokens } = row
  if (tokens === null) return <Missing />
  const view = { now: 0, utc: false }
  const text = `${formatValue(tokens.input, 'number', view)}→${row.state === 'admitted' ? '…' : formatValue(tokens.output, 'number', view)}`
  return (
    <span className="number nowrap" title={tokens.source === 'estimated' ? 'Estimated' : undefined}>
      {tokens.source === 'estimated' ? '≈' : ''}
      {text}
    </span>
  )
}

export const requestColumns: TableColumn<RequestRow>[] = [
  { id: 'time', title: 'Time', width: '112px', narrowWidth: '56px', cell: (row) => <Time short at={row.time} /> },
  { id: 'status', title: 'Status', width: '264px', narrowWidth: '100px', cell: (row) => <RequestState row={row} /> },
  { id: 'model', title: 'Model → served by', narrowTitle: 'Model', cell: (row) => <ModelServed row={row} /> },
  { id: 'key', title: 'Key', width: '112px', wideOnly: true, cell: (row) => <UntrustedText text={row.key?.name} /> },
  {
    id: 'ttfb',
    title: 'First byte',
    number: true,
    width: '92px',
    wideOnly: true,
    cell: (row) => <Duration ms={row.first_byte_ms} />,
  },
  {
    id: 'total',
    title: 'Total',
    number: true,
    width: '84px',
    narrowWidth: '76px',
    cell: (row) => <Duration ms={row.duration_ms} />,
  },
  { id: 'tokens', title: 'Tokens', number: true, width: '116px', wideOnly: true, cell: (row) => <Tokens row={row} /> },
  {
    id: 'cost',
    title: 'Cost',
    number: true,
    width: '112px',
    wideOnly: true,
    cell: (row) => <Money usd={row.cost?.usd} />,
  },
  { id: 'scope', title: 'Scope', width: '160px', wideOnly: true, optional: true, cell: (row) => <Scope row={row} /> },
  { id: 'lane', title: 'Lane', width: '92px', wideOnly: true, optional: true, cell: (row) => row.lane ?? <Missing /> },
  {
    id: 'operation',
    title: 'Operation',
    width: '140px',
    wideOnly: true,
    optional: true,
    cell: (row) => <UntrustedText text={row.operation} />,
  },
  {
    id: 'route',
    title: 'Route',
    width: '140px',
    wideOnly: true,
    optional: true,
    cell: (row) => <UntrustedText text={row.route} />,
  },
  {
    id: 'address',
    title: 'Client',
    width: '130px',
    wideOnly: true,
    optional: true,
    cell: (row) => <UntrustedText text={row.client.address} />,
  },
  { id: 'id', title: 'ID', width: '150px', wideOnly: true, optional: true, cell: (row) => <Id id={row.id} /> },
]

function Scope({ row }: { row: RequestRow }) {
  return <UntrustedText text={row.project === null ? null : `${row.project}/${row.environment ?? ''}`} />
}
