import { useQuery } from '@tanstack/react-query'
import { DownloadIcon, ShieldCheck } from 'lucide-react'
import { useState } from 'react'
import type { AdminClient } from '../../../../admin/client-link.ts'
import { orpc } from '../../client/admin.ts'
import {
  Button,
  DataTable,
  Drawer,
  Empty,
  FormFault,
  QueryFault,
  type TableColumn,
  Time,
  UntrustedText,
  useOperation,
} from '../../parts/index.ts'
import { useScope } from '../../session/scope.ts'
import { useMay } from '../../session/session.ts'
import { Loading } from '../../shell/page.tsx'
import { DownloadProgress, datedName, useDownload } from '../download.tsx'
import type { AuditEvent } from '../outputs.ts'
import { AuditFilters, type AuditFilterValues } from './audit-filters.tsx'
import { AuditLine } from './audit-line.tsx'

type AuditVerdict = Awaited<ReturnType<AdminClient['audit']['verify']>>

const columns: TableColumn<AuditEvent>[] = [
  { id: 'time', title: 'Time', width: '110px', narrowWidth: '68px', cell: ({ time }) => <Time short at={time} /> },
  {
    id: 'who',
    title: 'Actor',
    width: '120px',
    middleWidth: '112px',
    wideOnly: true,
    cell: ({ actor }) => <UntrustedText text={actor} />,
  },
  {
    id: 'operation',
    title: 'Operation',
    width: '212px',
    middleWidth: '196px',
    narrowWidth: '45%',
    // Who did it is never left out.
    cell: ({ operation, actor }) => (
      <>
        <code className="truncate">{operation}</code>
        <span className="second-line quiet">
          <UntrustedText text={actor} />
        </span>
      </>
    ),
  },
  {
    id: 'resource',
    title: 'Resource',
    narrowWidth: 'auto',
    cell: ({ resource }) => (
      <>
        <span className="wide-only quiet">{resource.kind}</span> <UntrustedText text={resource.name} />
        <span className="second-line quiet">{resource.kind}</span>
      </>
    ),
  },
  {
    id: 'surface',
    title: 'Surface',
    width: '92px',
    middleWidth: '92px',
    wideOnly: true,
    cell: ({ surface }) => surface,
  },
  {
    id: 'address',
    title: 'Address',
    width: '132px',
    middleWidth: '112px',
    wideOnly: true,
    cell: ({ address }) => <UntrustedText text={address} />,
  },
  {
    id: 'sequence',
    title: 'No.',
    width: '104px',
    number: true,
    roomyOnly: true,
    cell: ({ sequence }) => sequence,
  },
]

export function Audit() {
  const { filter } = useScope()
  const [filters, setFilters] = useState<AuditFilterValues>({})
  const input = { ...filters, ...(filter.project === undefined ? {} : { project: filter.project }) }
  const [opened, setOpened] = useState<AuditEvent | null>(null)
  const [older, setOlder] = useState<AuditEvent[]>([])
  const lines = useQuery({ ...orpc.audit.list.queryOptions({ input: { ...input, limit: 100 } }), staleTime: 0 })
  const rows = [...(lines.data ?? []), ...older]
  const last = rows.at(-1)
  const more = useOperation('audit.list')
  const loadMore = async () => {
    if (last === undefined) return
    const found = (await more.call({ ...input, limit: 100, before: last.id })) as AuditEvent[] | null
    setOlder([...older, ...(found ?? [])])
  }
  const filterBy = (values: AuditFilterValues) => {
    setFilters(values)
    setOlder([])
  }
  return (
    <>
      <AuditTools input={input} />
      <AuditFilters values={filters} onChange={filterBy} />
      {lines.isPending ? <Loading /> : null}
      <QueryFault of={lines} />
      {lines.data === undefined ? null : (
        <DataTable<AuditEvent>
          name="audit"
          label="Audit"
          rows={rows}
          columns={columns}
          rowKey={({ id }) => id}
          onOpen={setOpened}
          empty={
            <Empty title="No matching entries" command="spgw audit list">
              Every change, on any surface, is recorded here.
            </Empty>
          }
          foot={
            rows.length >= 100 && rows.length % 100 === 0 ? (
              <Button small busy={more.busy} onClick={() => void loadMore()}>
                Load older entries
              </Button>
            ) : (
              'End of list'
            )
          }
        />
      )}
      <Drawer open={opened !== null} title={opened?.operation ?? ''} onClose={() => setOpened(null)}>
        {opened === null ? null : <AuditLine line={opened} />}
      </Drawer>
    </>
  )
}

function AuditTools({ input }: { input: object }) {
  const mayVerify = useMay('audit.verify')
  const verify = useOperation('audit.verify')
  const [verdict, setVerdict] = useState<AuditVerdict | null>(null)
  const { download, fault, start } = useDownload(['audit', 'export'], datedName('spgw-audit', 'jsonl'))
  const prove = async () => setVerdict((await verify.call({})) as AuditVerdict | null)
  return (
    <div className="stack-tight">
      <div className="row">
        {mayVerify ? (
          <Button icon={<ShieldCheck size={16} aria-hidden="true" />} busy={verify.busy} onClick={() => void prove()}>
            Verify
          </Button>
        ) : null}
        <Button icon={<DownloadIcon size={16} aria-hidden="true" />} onClick={() => void start(input)}>
          Export
        </Button>
        <span className="small quiet">
          Each entry’s hash covers the previous one, so removed or altered entries are detected.
        </span>
      </div>
      <FormFault fault={verify.fault ?? fault} shown={[]} />
      {verdict === null ? null : <VerdictNotice verdict={verdict} />}
      {download.state === 'done' || download.state === 'idle' ? null : <DownloadProgress download={download} />}
    </div>
  )
}

function VerdictNotice({ verdict }: { verdict: AuditVerdict }) {
  return (
    <div className={`notice ${verdict.ok ? 'notice-good' : 'notice-bad'}`} role="status">
      <div className="grow">
        <p className="notice-title">{verdict.ok ? `All ${verdict.lines} entries are intact.` : verdict.problem}</p>
        {verdict.head === null ? null : (
          <p className="small">
            Latest entry: {verdict.head.sequence}, <code className="breakable">{verdict.head.hash}</code>. Keep this
            hash elsewhere to prove later that no entry up to here was removed.
          </p>
        )}
      </div>
    </div>
  )
}
