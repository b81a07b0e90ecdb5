import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useId } from 'react'
import { type FormatName, formatNames, isFormatName } from '../../../../core/format.ts'
import { orpc } from '../../client/admin.ts'
import { DataTable, Empty, QueryFault, StateBadge, type TableColumn, UntrustedText } from '../../parts/index.ts'
import { keepScope } from '../../shell/keys.ts'
import { Loading, Page } from '../../shell/page.tsx'
import type { FormatLoss } from '../outputs.ts'
import { formatTitles } from './formats.ts'

const tones = {
  refused: 'bad',
  lost: 'warning',
  changed: 'strong',
  depends: 'strong',
  kept: 'good',
  'no effect': 'quiet',
} as const

/** For two formats, what of a request is kept and what is lost. */
export function TranslationPage() {
  const { from = 'chat', to = 'messages' } = useSearch({ from: '/app/routing/translation' })
  const losses = useQuery(orpc.routes.losses.queryOptions({ input: { from, to }, staleTime: Number.POSITIVE_INFINITY }))
  const rows = losses.data ?? []
  return (
    <Page
      title="Translation"
      above={
        <Link to="/routing" search={keepScope}>
          Routing
        </Link>
      }
    >
      <p className="quiet">
        What becomes of each field of a request when its provider has another format. Lost and changed fields are named
        in the header <code>x-sp-lossy</code> and on the record; a strict route rejects them. Some models accept less
        (no temperature, for example): Explain on the page of a route shows what one request would lose.
      </p>
      <div className="field-pair">
        <FormatChoice label="Client" name="from" value={from} />
        <FormatChoice label="Provider" name="to" value={to} />
      </div>
      <QueryFault of={losses} />
      {losses.isPending ? <Loading /> : null}
      {losses.data === undefined ? null : (
        <>
          {rows.length === 0 ? null : <p role="status">{summarize(rows)}</p>}
          <DataTable
            name="losses"
            label="Fields that do not arrive as they were"
            cards
            rows={rows.filter(({ outcome }) => !arrives.has(outcome))}
            columns={columns}
            rowKey={({ field }) => field}
            empty={
              <Empty title="Nothing is translated" command={`spgw routes losses ${from} ${to}`}>
                A request in the provider’s own format passes as it came.
              </Empty>
            }
          />
          {[...arrives].map((outcome) => (
            <FieldList key={outcome} outcome={outcome} rows={rows.filter((row) => row.outcome === outcome)} />
          ))}
        </>
      )}
    </Page>
  )
}

function FormatChoice({ label, name, value }: { label: string; name: 'from' | 'to'; value: FormatName }) {
  const id = useId()
  const navigate = useNavigate()
  const choose = (chosen: string) => {
    if (isFormatName(chosen))
      void navigate({ to: '/routing/translation', search: (before) => ({ ...before, [name]: chosen }), replace: true })
  }
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <select id={id} className="input" value={value} onChange={(event) => choose(event.target.value)}>
        {formatNames.map((format) => (
          <option key={format} value={format}>
            {format}: {formatTitles[format]}
          </option>
        ))}
      </select>
    </div>
  )
}

const arrives: ReadonlySet<FormatLoss['outcome']> = new Set(['kept', 'no effect'])

function FieldList({ outcome, rows }: { outcome: FormatLoss['outcome']; rows: readonly FormatLoss[] }) {
  if (rows.length === 0) return null
  return (
    <details className="fold">
      <summary>
        {outcome === 'kept' ? 'Kept' : 'Without effect on the answer'} ({rows.length})
      </summary>
      <ul className="nested">
        {rows.map(({ field }) => (
          <li key={field} className="breakable">
            <code>
              <UntrustedText text={field} />
            </code>
          </li>
        ))}
      </ul>
    </details>
  )
}

/** `11 refused, 12 lost, 2 changed, 40 kept` */
function summarize(rows: readonly FormatLoss[]): string {
  const words = ['refused', 'lost', 'changed', 'depends', 'kept'] as const
  const counted = words.map((word) => [rows.filter(({ outcome }) => outcome === word).length, word] as const)
  return counted
    .filter(([count]) => count > 0)
    .map(([count, word]) => `${count} ${word}`)
    .join(', ')
}

const columns: TableColumn<FormatLoss>[] = [
  {
    id: 'field',
    title: 'Field',
    width: '46%',
    cell: ({ field }) => (
      <code>
        <UntrustedText text={field} />
      </code>
    ),
  },
  {
    id: 'outcome',
    title: 'Outcome',
    width: '136px',
    cell: ({ outcome }) => <StateBadge state={outcome} tone={tones[outcome]} />,
  },
  { id: 'why', title: 'Why', cell: ({ why }) => why },
]
