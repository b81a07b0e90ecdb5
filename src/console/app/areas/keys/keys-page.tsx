import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { orpc } from '../../client/admin.ts'
import {
  Button,
  DataTable,
  Empty,
  Missing,
  QueryFault,
  type TableColumn,
  Time,
  UntrustedText,
} from '../../parts/index.ts'
import { inScope, useScope } from '../../session/scope.ts'
import { useMay } from '../../session/session.ts'
import { keepScope } from '../../shell/keys.ts'
import { Loading, Page } from '../../shell/page.tsx'
import type { CreatedKey, Key } from '../outputs.ts'
import { CreateKey } from './create-key.tsx'
import { KeyMark, KeyState } from './key-display.tsx'
import { type KeyUsage, useKeyUsage } from './key-usage.ts'
import { LimitBars } from './limit-bars.tsx'
import { ShownOnce } from './shown-once.tsx'

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
  const keys = useQuery(orpc.keys.list.queryOptions({ input: scope.listInput }))
  const rows = (keys.data ?? []).filter((key) => inScope(scope, key))
  const create = may ? (
    <Button
      variant={made === null ? 'primary' : 'plain'}
      icon={<Plus size={16} aria-hidden="true" />}
      onClick={() => void navigate({ to: '/keys', search: (before) => ({ ...keepScope(before), create: 'new' }) })}
    >
      Create key
    </Button>
  ) : null
  return (
    <Page title="Keys" actions={rows.length === 0 ? null : create}>
      {made === null ? null : <ShownOnce made={made} onClose={onClose} />}
      {keys.isPending ? <Loading /> : null}
      <QueryFault of={keys} />
      {keys.data === undefined ? null : (
        <DataTable
          name="keys"
          label="Keys"
          rows={rows}
          columns={columnsFor(usage)}
          rowKey={({ id }) => id}
          rowClass={({ state }) => (state === 'active' ? '' : 'row-over')}
          onOpen={({ id }) => void navigate({ to: '/keys/$key', params: { key: id }, search: keepScope })}
          empty={<NoKey action={create} />}
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

function columnsFor(usage: ReadonlyMap<string, KeyUsage>): TableColumn<Key>[] {
  return [
    {
      id: 'name',
      title: 'Name',
      cell: ({ id, name }) => (
        <Link to="/keys/$key" params={{ key: id }} search={keepScope} className="truncate">
          <UntrustedText text={name} />
        </Link>
      ),
    },
    {
      id: 'key',
      title: 'Key',
      width: '150px',
      narrowWidth: '122px',
      cell: ({ last_four }) => <KeyMark lastFour={last_four} />,
    },
    {
      id: 'scope',
      title: 'Scope',
      wideOnly: true,
      cell: ({ project, environment }) => (
        <span className="truncate">
          {project}/{environment}
        </span>
      ),
    },
    { id: 'state', title: 'State', width: '130px', narrowWidth: '98px', cell: (key) => <KeyState {...key} /> },
    {
      id: 'used',
      title: 'Last used',
      width: '110px',
      wideOnly: true,
      cell: ({ last_used_at }) => <Time at={last_used_at} />,
    },
    {
      id: 'limits',
      title: 'Limits',
      width: '220px',
      wideOnly: true,
      cell: ({ id, policy }) => <LimitBars limits={usage.get(id)?.limits ?? []} policy={policy} />,
    },
    {
      id: 'expires',
      title: 'Expires',
      width: '128px',
      wideOnly: true,
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
}
