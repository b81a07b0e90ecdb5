import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { AdminClient } from '../../../../admin/client-link.ts'
import { orpc } from '../../client/admin.ts'
import {
  AddButton,
  Code,
  DataTable,
  Dialog,
  Empty,
  OperationButton,
  OperationForm,
  QueryFault,
} from '../../parts/index.ts'
import { useMay } from '../../session/session.ts'
import { Loading } from '../../shell/page.tsx'
import { contractColumns } from './contract-columns.tsx'
import { SecretOnce } from './secret-once.tsx'

type Token = Awaited<ReturnType<AdminClient['tokens']['show']>>
type CreatedToken = Awaited<ReturnType<AdminClient['tokens']['create']>>

/** Names have what these leave. */
const widths = {
  last_four: { width: '92px' },
  state: { width: '104px' },
  role: { width: '80px' },
  created_by: { optional: true },
  last_used_at: { width: '104px' },
  expires_at: { width: '96px' },
}

export function Tokens() {
  const tokens = useQuery(orpc.tokens.list.queryOptions({ input: {} }))
  const projects = useQuery(orpc.projects.list.queryOptions({ input: {} }))
  const [creating, setCreating] = useState(false)
  const [made, setMade] = useState<CreatedToken | null>(null)
  const may = useMay('tokens.create')
  const create = may ? <AddButton onClick={() => setCreating(true)}>Create token</AddButton> : null
  return (
    <>
      <div className="row spread">
        <p className="quiet grow">A token runs operations as an operator would, with its own role and expiry.</p>
        {tokens.data?.length === 0 ? null : create}
      </div>
      {made === null ? null : (
        <SecretOnce title={`Token "${made.name}" created`} secret={made.token} onClose={() => setMade(null)}>
          <div className="stack-tight">
            <p>
              Role: {made.role} for {made.project === null ? 'the whole workspace' : `project ${made.project}`}. Use it
              to run any command from another machine:
            </p>
            <Code text={`SPGW_TOKEN=${made.token} spgw --remote ${location.origin} status`} />
          </div>
        </SecretOnce>
      )}
      {tokens.isPending ? <Loading /> : null}
      <QueryFault of={tokens} />
      {tokens.data === undefined ? null : (
        <DataTable
          cards
          name="tokens"
          label="API tokens"
          rows={tokens.data}
          columns={contractColumns<Token>('tokens.list', tokens.data, {
            buttons: may ? (token) => <TokenButtons token={token} /> : undefined,
            change: widths,
          })}
          rowKey={({ id }) => id}
          empty={<Empty title="No API tokens yet" action={create} command="spgw tokens create deploy --role admin" />}
        />
      )}
      <Dialog open={creating} title="Create API token" onClose={() => setCreating(false)}>
        <OperationForm
          operation="tokens.create"
          suggestions={{
            project: projects.data?.map(({ name }) => name) ?? [],
            expires: ['7d', '30d', '90d', 'never'],
          }}
          submit="Create token"
          onCancel={() => setCreating(false)}
          onDone={(answer) => {
            setCreating(false)
            setMade(answer as CreatedToken)
          }}
        />
      </Dialog>
    </>
  )
}

function TokenButtons({ token: { name, state } }: { token: Token }) {
  return (
    <>
      {state === 'active' ? (
        <OperationButton small operation="tokens.revoke" input={{ name }} name={name} done={`Token "${name}" revoked`}>
          Revoke
        </OperationButton>
      ) : null}
      <OperationButton small operation="tokens.remove" input={{ name }} name={name} done={`Token "${name}" removed`}>
        Remove
      </OperationButton>
    </>
  )
}
