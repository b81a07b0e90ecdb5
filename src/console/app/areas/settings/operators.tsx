import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { orpc } from '../../client/admin.ts'
import { AddButton, DataTable, Dialog, Empty, OperationForm, QueryFault, Time } from '../../parts/index.ts'
import { useMay } from '../../session/session.ts'
import { Loading } from '../../shell/page.tsx'
import type { Operator, OperatorLink } from '../outputs.ts'
import { contractColumns } from './contract-columns.tsx'
import { OperatorButtons } from './operator-buttons.tsx'
import { OperatorRoles } from './operator-roles.tsx'
import { SecretOnce } from './secret-once.tsx'

const widths = {
  state: { width: '92px' },
  signs_in_with: { width: '110px' },
  last_sign_in_at: { width: '104px' },
}

const hasOtherName = ({ name, display_name: shown }: Operator) => shown !== name

function columnsOf(operators: readonly Operator[], buttons: ((operator: Operator) => ReactNode) | undefined) {
  const name = { title: 'Display name', middleWidth: '122px', optional: !operators.some(hasOtherName) }
  return contractColumns<Operator>('operators.list', operators, {
    width: '332px',
    // In two lines.
    middleWidth: '196px',
    change: { ...widths, display_name: name },
    buttons,
  })
}

export function Operators() {
  const operators = useQuery(orpc.operators.list.queryOptions({ input: {} }))
  const projects = useQuery(orpc.projects.list.queryOptions({ input: {} }))
  const [adding, setAdding] = useState(false)
  const [edited, setEdited] = useState<Operator | null>(null)
  const [made, setMade] = useState<OperatorLink | null>(null)
  const may = useMay('operators.add')
  const add = may ? <AddButton onClick={() => setAdding(true)}>Add operator</AddButton> : null
  return (
    <>
      <div className="row spread">
        <p className="quiet grow">
          Owners can do everything. Admins can do all but grant ownership and manage machine keys. Viewers can only
          read.
        </p>
        {add}
      </div>
      {made?.link ? <LinkOnce made={made} onClose={() => setMade(null)} /> : null}
      {operators.isPending ? <Loading /> : null}
      <QueryFault of={operators} />
      {operators.data === undefined ? null : (
        <DataTable
          cards
          name="operators"
          label="Operators"
          rows={operators.data}
          columns={columnsOf(
            operators.data,
            may
              ? (operator) => (
                  <OperatorButtons {...{ operator, operators: operators.data, onRoles: setEdited, onLink: setMade }} />
                )
              : undefined,
          )}
          rowKey={({ id }) => id}
          empty={<Empty title="No operators yet" action={add} command="spgw operators add anna --role owner" />}
        />
      )}
      <Dialog open={adding} title="Add operator" onClose={() => setAdding(false)}>
        <OperationForm
          operation="operators.add"
          fields={['name', 'displayName', 'role', 'projects']}
          folded={['password']}
          suggestions={{ projects: projects.data?.map(({ name }) => name) ?? [] }}
          hints={{ password: 'Leave empty to get a one-time sign-in link instead' }}
          submit="Add operator"
          onCancel={() => setAdding(false)}
          onDone={(answer) => {
            setAdding(false)
            setMade(answer as OperatorLink)
          }}
        />
      </Dialog>
      <Dialog open={edited !== null} title={`Roles of ${edited?.name ?? ''}`} onClose={() => setEdited(null)}>
        {edited === null ? null : (
          <OperatorRoles
            operator={operators.data?.find(({ id }) => id === edited.id) ?? edited}
            projects={projects.data?.map(({ name }) => name) ?? []}
          />
        )}
      </Dialog>
    </>
  )
}

function LinkOnce({ made, onClose }: { made: OperatorLink; onClose(): void }) {
  return (
    <SecretOnce title={`Sign-in link for ${made.name}`} secret={made.link ?? ''} onClose={onClose}>
      The first person to open it is signed in as {made.name}, without a password or code. Valid once, until{' '}
      <Time at={made.expires_at} absolute />.
    </SecretOnce>
  )
}
