import { useQuery } from '@tanstack/react-query'
import type { AdminClient } from '../../../../admin/client-link.ts'
import { orpc } from '../../client/admin.ts'
import { Browser, DataTable, OperationButton, QueryFault } from '../../parts/index.ts'
import { useMay } from '../../session/session.ts'
import { Loading } from '../../shell/page.tsx'
import { contractColumns } from './contract-columns.tsx'

type Session = Awaited<ReturnType<AdminClient['sessions']['list']>>[number]

/** Of ages up to *59 min ago*. */
const age = { width: '104px' }
const widths = { method: { width: '84px' }, last_seen_at: age, created_at: age, expires_at: { width: '84px' } }

export function Sessions() {
  const sessions = useQuery({ ...orpc.sessions.list.queryOptions({ input: {} }), staleTime: 0 })
  const may = useMay('sessions.revoke')
  return (
    <>
      <p className="quiet">Everyone who is signed in to this console. Revoking a session signs it out at once.</p>
      {sessions.isPending ? <Loading /> : null}
      <QueryFault of={sessions} />
      {sessions.data === undefined ? null : (
        <DataTable
          cards
          name="sessions"
          label="Sessions"
          rows={sessions.data}
          columns={contractColumns<Session>('sessions.list', sessions.data, {
            width: '124px',
            middleWidth: '114px',
            change: {
              ...widths,
              user_agent: {
                width: '180px',
                middleWidth: '150px',
                cell: ({ user_agent }) => <Browser userAgent={user_agent} />,
              },
              id: { optional: true },
            },
            buttons: may
              ? ({ id, operator }) => (
                  <OperationButton
                    small
                    operation="sessions.revoke"
                    input={{ id }}
                    name={operator}
                    done={`Session of ${operator} revoked`}
                    onDone={() => void sessions.refetch()}
                  >
                    Revoke
                  </OperationButton>
                )
              : undefined,
          })}
          rowKey={({ id }) => id}
          empty={<p className="quiet">No active sessions.</p>}
        />
      )}
    </>
  )
}
