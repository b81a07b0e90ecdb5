import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { AdminClient } from '../../../../admin/client-link.ts'
import { orpc } from '../../client/admin.ts'
import {
  AddButton,
  Button,
  DataTable,
  Dialog,
  Empty,
  OperationButton,
  OperationForm,
  QueryFault,
  toast,
} from '../../parts/index.ts'
import { useMay } from '../../session/session.ts'
import { Loading } from '../../shell/page.tsx'
import { contractColumns } from './contract-columns.tsx'
import { SecretOnce } from './secret-once.tsx'

type Alert = Awaited<ReturnType<AdminClient['alerts']['show']>>
type AddedAlert = Awaited<ReturnType<AdminClient['alerts']['add']>>
type Delivery = Awaited<ReturnType<AdminClient['alerts']['retry']>>

const alertWidths = {
  format: { width: '100px', wideOnly: true },
  active: { width: '76px', wideOnly: true },
}
const deliveryWidths = {
  created_at: { width: '104px' },
  alert: { width: '112px', wideOnly: true },
  // The message says it in words.
  type: { width: '148px', optional: true },
  next_at: { width: '92px' },
  state: { width: '112px' },
  // Worth a column only where somebody counts them.
  tries: { width: '64px', wideOnly: true, optional: true },
  id: { optional: true },
}

export function Alerts() {
  const alerts = useQuery(orpc.alerts.list.queryOptions({ input: {} }))
  const [adding, setAdding] = useState(false)
  const [editing, setEditing] = useState<Alert | null>(null)
  const [added, setAdded] = useState<AddedAlert | null>(null)
  const may = useMay('alerts.add')
  const add = may ? <AddButton onClick={() => setAdding(true)}>Add alert</AddButton> : null
  return (
    <>
      <div className="row spread">
        <p className="quiet grow">
          An alert sends a message once when a budget passes 50, 80 or 100%, a provider fails, errors exceed 10%, the
          disk is nearly full, or a key or certificate expires soon.
        </p>
        {alerts.data?.length === 0 ? null : add}
      </div>
      {added === null || added.secret === null ? null : (
        <SecretOnce title={`Alert "${added.name}" added`} secret={added.secret} onClose={() => setAdded(null)}>
          <p>The receiver verifies with it that messages are from this gateway (Standard Webhooks).</p>
        </SecretOnce>
      )}
      {alerts.isPending ? <Loading /> : null}
      <QueryFault of={alerts} />
      {alerts.data === undefined ? null : (
        <DataTable
          cards
          name="alerts"
          label="Alerts"
          rows={alerts.data}
          columns={contractColumns<Alert>('alerts.list', alerts.data, {
            buttons: may ? (alert) => <AlertButtons alert={alert} onEdit={() => setEditing(alert)} /> : undefined,
            width: '230px',
            change: alertWidths,
          })}
          rowKey={({ id }) => id}
          empty={
            <Empty title="No alerts yet" action={add} command="spgw alerts add ops --url https://example.com/hook" />
          }
        />
      )}
      {alerts.data === undefined || alerts.data.length === 0 ? null : <Deliveries of={alerts.data[0]?.name ?? 'ops'} />}
      <Dialog open={adding} title="Add alert" onClose={() => setAdding(false)}>
        <OperationForm
          operation="alerts.add"
          submit="Add alert"
          onCancel={() => setAdding(false)}
          onDone={(answer) => {
            setAdding(false)
            setAdded(answer as AddedAlert)
            toast({ tone: 'good', title: `Alert "${(answer as AddedAlert).name}" added` })
          }}
        />
      </Dialog>
      <EditAlert editing={editing} onClose={() => setEditing(null)} />
    </>
  )
}

function EditAlert({ editing, onClose }: { editing: Alert | null; onClose(): void }) {
  return (
    <Dialog open={editing !== null} title={`Edit alert "${editing?.name ?? ''}"`} onClose={onClose}>
      {editing === null ? null : (
        <OperationForm
          operation="alerts.edit"
          fixed={{ name: editing.id }}
          initial={{ on: editing.on, active: editing.active }}
          hints={{ url: `Empty: it stays ${editing.url}` }}
          submit="Save"
          onCancel={onClose}
          onDone={onClose}
        />
      )}
    </Dialog>
  )
}

function AlertButtons({ alert: { id, name, active, owned }, onEdit }: { alert: Alert; onEdit(): void }) {
  return (
    <>
      {active ? (
        <OperationButton
          small
          operation="alerts.test"
          input={{ name: id }}
          name={name}
          onDone={(answer) => showOutcome(answer as Delivery)}
        >
          Test
        </OperationButton>
      ) : null}
      <Button small onClick={onEdit}>
        Edit
      </Button>
      <OperationButton
        small
        operation="alerts.remove"
        owned={owned}
        input={{ name: id }}
        name={name}
        done={`Alert "${name}" removed`}
      >
        Remove
      </OperationButton>
    </>
  )
}

function showOutcome({ state, reason }: Delivery): void {
  if (state === 'delivered') toast({ tone: 'good', title: 'Delivered' })
  else toast({ tone: 'bad', title: 'Not delivered', text: reason ?? 'It is still being sent.' })
}

function Deliveries({ of }: { of: string }) {
  const deliveries = useQuery(orpc.alerts.deliveries.queryOptions({ input: {}, refetchInterval: 5000 }))
  const may = useMay('alerts.retry')
  const buttons = ({ id, type, state }: Delivery) =>
    state === 'delivered' ? null : (
      <OperationButton
        small
        operation="alerts.retry"
        input={{ id }}
        name={type}
        onDone={(answer) => showOutcome(answer as Delivery)}
      >
        Retry now
      </OperationButton>
    )
  return (
    <section className="stack" aria-label="Deliveries">
      <h2>Deliveries</h2>
      <QueryFault of={deliveries} />
      {deliveries.data === undefined ? null : (
        <DataTable
          cards
          name="alert-deliveries"
          label="Deliveries"
          rows={deliveries.data}
          columns={contractColumns<Delivery>('alerts.deliveries', deliveries.data, {
            buttons: may ? buttons : undefined,
            width: '116px',
            change: deliveryWidths,
          })}
          rowKey={({ id }) => id}
          empty={<Empty title="Nothing has been sent yet" command={`spgw alerts test ${of}`} />}
        />
      )}
    </section>
  )
}
