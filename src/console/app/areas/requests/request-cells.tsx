import type { ReactNode } from 'react'
import { escapeControls, formatValue } from '../../../../admin/contract/show-value.ts'
import { useClock } from '../../live/now.ts'
import type { RequestRow } from '../../live/status-output.ts'
import {
  Duration,
  digitsOfMoney,
  Id,
  Missing,
  Money,
  StateBadge,
  type TableColumn,
  UntrustedText,
} from '../../parts/index.ts'
import { labelOf } from '../../parts/labels.ts'
import type { FilterName } from './requests-search.ts'

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
          ↻<span className="wide-only">{tries - 1}</span>
        </span>
      ) : null}
    </span>
  )
}

export function toneOfRequest({ status, error }: RequestRow): 'good' | 'warning' | 'bad' {
  if (error === null && status !== null && status < 400) return 'good'
  // An answer that had begun and broke off is no success, whatever its status.
  return status !== null && status >= 400 && status < 500 ? 'warning' : 'bad'
}

/** `gpt-4o-mini → azure (fallback)` */
export function ModelServed({ row, change }: { row: RequestRow; change: ChangeFilters }) {
  const first = row.attempts[0]
  const fellBack = first !== undefined && row.provider !== null && first.provider !== row.provider
  const upstream = row.upstream_model !== null && row.upstream_model !== row.model ? `:${row.upstream_model}` : ''
  const served = row.provider === null ? '' : `${row.provider}${upstream}`
  return (
    <span
      className="truncate two-lines model-served"
      title={escapeControls(`${row.model ?? 'no model'}${served && ` → ${served}`}`)}
    >
      <FilterCell name="model" value={row.model} change={change}>
        <UntrustedText text={row.model} />
      </FilterCell>
      {served === '' ? null : (
        <span className="quiet wide-only served-by">
          {' → '}
          <FilterCell name="provider" value={row.provider} change={change}>
            <bdi>{escapeControls(served)}</bdi>
          </FilterCell>
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

type ChangeFilters = (change: { [Name in FilterName]?: string }) => void

/** A value that filters the list by itself; elsewhere a press on the row opens the request. */
function FilterCell({ name, value, change, children }: FilterCellProps) {
  if (value === null || value === undefined) return children
  return (
    <button
      type="button"
      className="cell-filter"
      title={`Show only ${labelOf(name).toLowerCase()} ${escapeControls(value)}`}
      onClick={() => change({ [name]: value })}
    >
      {children}
    </button>
  )
}

interface FilterCellProps {
  name: FilterName
  value: string | null | undefined
  change: ChangeFilters
  children: ReactNode
}

/** `15:29:03.089`, and how long ago that is on hover. */
function ClockTime({ at }: { at: string }) {
  const moment = new Date(at)
  const ago = useClock((now) => formatValue(at, 'age', { now: Math.max(now, moment.getTime()), utc: false }))
  const clock = moment.toLocaleTimeString('en-GB')
  return (
    <time dateTime={at} title={`${ago}, ${moment.toISOString()}`} className="number nowrap">
      {clock}
      <span className="quiet wide-only">.{String(moment.getMilliseconds()).padStart(3, '0')}</span>
    </time>
  )
}

const statusFilter = (row: RequestRow): { name: FilterName; value: string | null } =>
  row.error === null
    ? { name: 'status', value: row.status === null ? null : String(row.status) }
    : { name: 'error', value: row.error.code }

const figureColumns: TableColumn<RequestRow>[] = [
  {
    id: 'ttfb',
    title: 'First byte',
    number: true,
    width: '92px',
    roomyOnly: true,
    cell: (row) => <Duration ms={row.first_byte_ms} />,
  },
  {
    id: 'total',
    title: 'Total',
    number: true,
    width: '84px',
    narrowWidth: '70px',
    cell: (row) => <Duration ms={row.duration_ms} />,
  },
  {
    id: 'tokens',
    title: 'Tokens',
    number: true,
    width: '136px',
    roomyOnly: true,
    cell: (row) => <Tokens row={row} />,
  },
  {
    id: 'cost',
    title: 'Cost',
    number: true,
    width: '128px',
    middleWidth: '132px',
    wideOnly: true,
    digits: ({ cost }) => digitsOfMoney(cost?.usd),
    cell: (row) => <Money usd={row.cost?.usd} />,
  },
  { id: 'scope', title: 'Scope', width: '160px', wideOnly: true, optional: true, cell: (row) => <Scope row={row} /> },
]

const chosenOnly = { width: '112px', wideOnly: true, optional: true }

/** `ofNodes`: several share their records. */
export function requestColumns(change: ChangeFilters, ofNodes: boolean): TableColumn<RequestRow>[] {
  const text = (name: FilterName, read: (row: RequestRow) => string | null | undefined) => (row: RequestRow) => (
    <FilterCell name={name} value={read(row)} change={change}>
      <UntrustedText text={read(row)} />
    </FilterCell>
  )
  return [
    {
      id: 'time',
      title: 'Time',
      width: '132px',
      middleWidth: '126px',
      narrowWidth: '84px',
      cell: (row) => <ClockTime at={row.time} />,
    },
    {
      id: 'status',
      title: 'Status',
      width: '216px',
      middleWidth: '116px',
      narrowWidth: '86px',
      cell: (row) => (
        <FilterCell {...statusFilter(row)} change={change}>
          <RequestState row={row} />
        </FilterCell>
      ),
    },
    {
      id: 'model',
      title: 'Model → served by',
      narrowTitle: 'Model',
      cell: (row) => <ModelServed row={row} change={change} />,
    },
    { id: 'key', title: 'Key', width: '112px', wideOnly: true, cell: text('key', (row) => row.key?.name) },
    ...figureColumns,
    ...(ofNodes ? [{ id: 'node', title: 'Node', ...chosenOnly, cell: text('node', (row) => row.node) }] : []),
    { id: 'lane', title: 'Lane', ...chosenOnly, width: '100px', cell: text('lane', (row) => row.lane) },
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
      cell: text('route', (row) => row.route),
    },
    {
      id: 'address',
      title: 'Client',
      width: '180px',
      wideOnly: true,
      optional: true,
      cell: (row) => <Client row={row} />,
    },
    { id: 'id', title: 'ID', width: '150px', wideOnly: true, optional: true, cell: (row) => <Id id={row.id} /> },
  ]
}

function Client({ row: { client } }: { row: RequestRow }) {
  const { address, user_agent: agent } = client
  const words = [address, agent].filter((word) => word !== null).join(' ')
  return (
    <span className="truncate" title={escapeControls(words)}>
      <UntrustedText text={agent ?? address} />
    </span>
  )
}

function Scope({ row }: { row: RequestRow }) {
  return <UntrustedText text={row.project === null ? null : `${row.project}/${row.environment ?? ''}`} />
}
