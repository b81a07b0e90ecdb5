import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { formatShare } from '../../../../admin/contract/show-value.ts'
import { orpc } from '../../client/admin.ts'
import {
  AddButton,
  Count,
  DataTable,
  digitsOfMoney,
  Empty,
  isLongTable,
  Missing,
  Money,
  QueryFault,
  type TableColumn,
  Time,
  UntrustedText,
} from '../../parts/index.ts'
import { inScope, useScope } from '../../session/scope.ts'
import { useMay } from '../../session/session.ts'
import { keepScope } from '../../shell/keys.ts'
import { Loading, Page } from '../../shell/page.tsx'
import { ScopeNote } from '../../shell/scope-note.tsx'
import { useListFilter } from '../list-filter.tsx'
import { NoProject } from '../no-project.tsx'
import type { CreatedKey, Key } from '../outputs.ts'
import { ScopeLine, sharedNames } from '../scope-line.tsx'
import { CreateKey } from './create-key.tsx'
import { errorRateOf, type KeyDays, requestsOf } from './day-requests.ts'
import { KeySparkline, useKeyDays } from './key-day.tsx'
import { KeyMark, KeyState } from './key-display.tsx'
import { useKeyUsage } from './key-usage.ts'
import { LimitBars } from './limit-bars.tsx'
import { ShownOnce } from './shown-once.tsx'
import { allLimits, type KeyUsage } from './used-limits.ts'

export function KeysPage() {
  const { create } = useSearch({ from: '/app/keys' })
  const may = useMay('keys.create')
  const navigate = useNavigate()
  const [made, setMade] = useState<CreatedKey | null>(null)
  const toList = () => void navigate({ to: '/keys', search: keepScope })
  if (create === undefined || !may) return <KeyList made={made} onClose={() => setMade(null)} />
  const above = (
    <Link to="/keys" search={keepScope}>
      Keys
    </Link>
  )
  return (
    <Page title="Create key" above={above}>
      <CreateKey
        onCancel={toList}
        onDone={(key) => {
          setMade(key)
          toList()
        }}
      />
    </Page>
  )
}

function KeyList({ made, onClose }: { made: CreatedKey | null; onClose(): void }) {
  const scope = useScope()
  const navigate = useNavigate()
  const may = useMay('keys.create')
  const usage = useKeyUsage(scope.listInput)
  const days = useKeyDays(scope.filter)
  const keys = useQuery(orpc.keys.list.queryOptions({ input: scope.listInput }))
  const rows = (keys.data ?? []).filter((key) => inScope(scope, key))
  const filter = useListFilter(rows, 'keys', (key) => [
    key.name,
    key.last_four,
    `${key.project}/${key.environment}`,
    key.state,
    key.policy,
    key.created_by,
    key.id,
  ])
  const isLong = isLongTable(rows)
  const columns = columnsFor(rows, usage, days)
  const create = may ? (
    <AddButton
      variant={made === null ? 'primary' : 'plain'}
      onClick={() => void navigate({ to: '/keys', search: (before) => ({ ...keepScope(before), create: 'new' }) })}
    >
      Create key
    </AddButton>
  ) : null
  return (
    <Page fill={isLong} title="Keys" beside={<ScopeNote />} actions={rows.length === 0 ? null : create}>
      {made === null ? null : <ShownOnce made={made} onClose={onClose} />}
      {keys.isPending ? <Loading /> : null}
      <QueryFault of={keys} />
      {keys.data === undefined ? null : (
        <DataTable
          fill={isLong}
          name="keys"
          label="Keys"
          rows={filter.shown}
          columns={columns}
          {...(filter.field === null ? {} : { tools: filter.field })}
          rowKey={({ id }) => id}
          rowClass={({ state }) => (state === 'active' ? '' : 'row-over')}
          onOpen={({ id }) => void navigate({ to: '/keys/$key', params: { key: id }, search: keepScope })}
          empty={
            filter.none ?? (
              <NoProject list="/keys">
                <NoKey action={create} />
              </NoProject>
            )
          }
        />
      )}
    </Page>
  )
}

function NoKey({ action }: { action: ReactNode }) {
  return (
    <Empty title="No keys yet" action={action} command="spgw keys create --name ci">
      Applications use a gateway key instead of a provider’s own. A key belongs to one project and environment, and is
      shown only once.
    </Empty>
  )
}

const identityColumns = (shared: ReadonlySet<string>): TableColumn<Key>[] => [
  {
    id: 'name',
    title: 'Name',
    // Whatever else is shown, a key is known by it.
    width: '13%',
    middleWidth: 'auto',
    narrowWidth: 'auto',
    sort: ({ name }) => name,
    cell: ({ id, name, project, environment }) => (
      <>
        <Link to="/keys/$key" params={{ key: id }} search={keepScope} className="truncate">
          <UntrustedText text={name} />
        </Link>
        {shared.has(name) ? <ScopeLine project={project} environment={environment} /> : null}
      </>
    ),
  },
  {
    id: 'key',
    title: 'Key',
    width: '136px',
    middleWidth: '136px',
    narrowWidth: '122px',
    cell: ({ last_four }) => <KeyMark lastFour={last_four} />,
  },
  {
    id: 'scope',
    title: 'Scope',
    middleWidth: '158px',
    sort: ({ project, environment }) => `${project}/${environment}`,
    wideOnly: true,
    cell: ({ project, environment }) => (
      <span className="truncate">
        {project}/{environment}
      </span>
    ),
  },
  {
    id: 'state',
    title: 'State',
    width: '110px',
    middleWidth: '104px',
    narrowWidth: '98px',
    sort: ({ state }) => state,
    cell: (key) => <KeyState {...key} />,
  },
]

const usedColumn: TableColumn<Key> = {
  id: 'used',
  title: 'Last used',
  width: '108px',
  middleWidth: '132px',
  sort: ({ last_used_at }) => last_used_at,
  wideOnly: true,
  cell: ({ last_used_at }) => <Time at={last_used_at} />,
}

const lifeColumns: TableColumn<Key>[] = [
  {
    id: 'expires',
    title: 'Expires',
    width: '116px',
    sort: ({ expires_at }) => expires_at,
    roomyOnly: true,
    cell: ({ expires_at }) => (expires_at === null ? <Missing meaning="never" /> : <Time at={expires_at} />),
  },
  { id: 'policy', title: 'Policy', optional: true, cell: ({ policy }) => <UntrustedText text={policy} /> },
  { id: 'by', title: 'Created by', optional: true, cell: ({ created_by }) => <UntrustedText text={created_by} /> },
  {
    id: 'created',
    title: 'Created',
    width: '110px',
    optional: true,
    cell: ({ created_at }) => <Time at={created_at} />,
  },
]

function columnsFor(
  rows: readonly Key[],
  usage: ReadonlyMap<string, KeyUsage>,
  days: KeyDays | null,
): TableColumn<Key>[] {
  const hasLimits = [...usage.values()].some((used) => allLimits(used).length > 0)
  const expires = rows.some(({ expires_at }) => expires_at !== null)
  return [
    ...identityColumns(sharedNames(rows.map(({ name }) => name))),
    {
      id: 'requests',
      title: 'Requests, 24 h',
      number: true,
      width: '128px',
      wideOnly: true,
      sort: ({ id }) => requestsOf(days, id) ?? 0,
      cell: ({ id }) => <Count value={requestsOf(days, id)} />,
    },
    {
      id: 'errors',
      title: 'Error rate',
      number: true,
      width: '92px',
      roomyOnly: true,
      sort: ({ id }) => errorRateOf(days, id),
      cell: ({ id }) => <ErrorRate rate={errorRateOf(days, id)} />,
    },
    {
      id: 'day',
      title: 'Last day',
      width: '88px',
      roomyOnly: true,
      // There is no room for it beside the limits: the scope would be cut to a letter.
      optional: hasLimits,
      cell: ({ id }) => <KeySparkline id={id} requests={requestsOf(days, id) ?? 0} />,
    },
    {
      id: 'spend',
      title: 'Spend, 24 h',
      number: true,
      width: '128px',
      optional: true,
      digits: ({ id }) => digitsOfMoney(days?.get(id)?.usd),
      sort: ({ id }) => days?.get(id)?.usd ?? 0,
      cell: ({ id }) => <Spent usd={days?.get(id)?.usd ?? null} />,
    },
    // As the last column it stands beside the choice of columns.
    hasLimits || expires ? usedColumn : { ...usedColumn, width: '132px' },
    {
      id: 'limits',
      title: 'Limits',
      width: '180px',
      roomyOnly: true,
      optional: !hasLimits,
      cell: ({ id, policy }) => <LimitBars limits={allLimits(usage.get(id) ?? null)} policy={policy} />,
    },
    ...lifeColumns.map((column) => (column.id === 'expires' ? { ...column, optional: !expires } : column)),
  ]
}

function Spent({ usd }: { usd: number | null }) {
  return usd === null ? <Missing meaning="nothing that has a price" /> : <Money usd={usd} />
}

const highRate = 0.05

function ErrorRate({ rate }: { rate: number | null }) {
  if (rate === null) return <Missing meaning="no requests" />
  return <span className={rate >= highRate ? 'number state-bad' : 'number'}>{formatShare(rate)}</span>
}
