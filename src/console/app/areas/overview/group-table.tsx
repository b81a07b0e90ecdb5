import { useNavigate } from '@tanstack/react-router'
import { noGroup } from '../../../../core/record.ts'
import type { admin } from '../../client/admin.ts'
import {
  Count,
  DataTable,
  Duration,
  digitsOfMoney,
  Empty,
  Money,
  type TableColumn,
  UntrustedText,
} from '../../parts/index.ts'
import { labelOf } from '../../parts/labels.ts'
import { keepScope } from '../../shell/keys.ts'
import type { Grouping } from './overview-search.ts'

type GroupRow = Awaited<ReturnType<typeof admin.requests.stats>>[number]
type By = Grouping

interface GroupTableProps {
  by: By
  rows: readonly GroupRow[]
  window: { since: string; until: string | undefined }
}

/** Traffic by group; a row opens its requests. */
export function GroupTable({ by, rows, window }: GroupTableProps) {
  const navigate = useNavigate()
  const most = Math.max(1, ...rows.map(({ requests }) => requests))
  const sorted = [...rows].sort((left, right) => right.requests - left.requests)
  const open = ({ group }: GroupRow) => {
    // No filter finds requests without a group.
    if (group === noGroup || group.startsWith('status_')) return
    const words = { since: window.since, ...(window.until === undefined ? {} : { until: window.until }) }
    void navigate({ to: '/requests', search: (before) => ({ ...keepScope(before), ...words, [by]: group }) })
  }
  return (
    <section className="stack-tight">
      <h2>By {by === 'error' ? 'error code' : by}</h2>
      <DataTable
        name={`overview-${by}`}
        label={`Traffic by ${by}`}
        rows={sorted}
        columns={columnsOf(by, most)}
        rowKey={({ group }) => group}
        onOpen={open}
        empty={<Empty title="No requests in this time range" command="spgw requests stats" />}
      />
    </section>
  )
}

const highShare = 0.05

function Errors({ of: { errors, requests } }: { of: GroupRow }) {
  return (
    <span className={errors / requests >= highShare ? 'state-bad' : undefined}>
      <Count value={errors} />
    </span>
  )
}

/** Where the page has no room for the column of its spend, that stands below its name. */
function Group({ of: { group, usd } }: { of: GroupRow }) {
  return (
    <>
      <span className="two-lines">
        <UntrustedText text={group} />
      </span>
      {usd === null ? null : (
        <span className="second-line quiet">
          <Money usd={usd} /> spent
        </span>
      )}
    </>
  )
}

const otherFigures: TableColumn<GroupRow>[] = [
  {
    id: 'p50',
    sort: (row) => row.duration_p50_ms,
    title: 'p50',
    number: true,
    width: '84px',
    roomyOnly: true,
    cell: (row) => <Duration ms={row.duration_p50_ms} />,
  },
  {
    id: 'p95',
    sort: (row) => row.duration_p95_ms,
    title: 'p95',
    number: true,
    width: '84px',
    wideOnly: true,
    cell: (row) => <Duration ms={row.duration_p95_ms} />,
  },
  {
    id: 'input',
    sort: ({ input }) => input,
    title: 'Tokens in',
    number: true,
    width: '116px',
    middleWidth: '100px',
    wideOnly: true,
    cell: ({ input }) => <Count value={input} />,
  },
  {
    id: 'output',
    sort: ({ output }) => output,
    title: 'Tokens out',
    number: true,
    width: '116px',
    middleWidth: '100px',
    wideOnly: true,
    cell: ({ output }) => <Count value={output} />,
  },
  {
    id: 'usd',
    sort: ({ usd }) => usd,
    title: 'Spend',
    number: true,
    width: '164px',
    middleWidth: '160px',
    wideOnly: true,
    digits: ({ usd }) => digitsOfMoney(usd),
    cell: ({ usd }) => <Money usd={usd} />,
  },
]

function columnsOf(by: By, most: number): TableColumn<GroupRow>[] {
  return [
    { id: 'group', title: labelOf(by), cell: (row) => <Group of={row} /> },
    {
      id: 'share',
      title: 'Share',
      width: '104px',
      roomyOnly: true,
      cell: ({ requests }) => <span className="share" style={{ width: `${(requests / most) * 100}%` }} />,
    },
    {
      id: 'requests',
      sort: ({ requests }) => requests,
      title: 'Requests',
      number: true,
      width: '104px',
      middleWidth: '88px',
      narrowWidth: '82px',
      cell: ({ requests }) => <Count value={requests} />,
    },
    {
      id: 'errors',
      sort: ({ errors }) => errors,
      title: 'Errors',
      number: true,
      width: '84px',
      narrowWidth: '96px',
      cell: (row) => <Errors of={row} />,
    },
    ...otherFigures,
  ]
}
