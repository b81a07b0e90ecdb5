import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { AdminClient } from '../../../../admin/client-link.ts'
import { orpc } from '../../client/admin.ts'
import { OperationButton, QueryFault, RecordView, StateBadge } from '../../parts/index.ts'
import { useMay } from '../../session/session.ts'
import { Loading } from '../../shell/page.tsx'
import { Section } from '../section.tsx'
import { pluralize } from '../units.ts'
import { SecretOnce } from './secret-once.tsx'

type SealStatus = Awaited<ReturnType<AdminClient['seal']['status']>>
type RecoveryKey = Awaited<ReturnType<AdminClient['seal']['recovery-key']>>

export function Seal() {
  const status = useQuery(orpc.seal.status.queryOptions({ input: {} }))
  const [made, setMade] = useState<RecoveryKey | null>(null)
  const [toDo, setToDo] = useState<string | null>(null)
  const mayRotate = useMay('seal.rotate')
  if (status.error && status.data === undefined) return <QueryFault of={status} />
  if (status.data === undefined) return <Loading />
  const seal = status.data
  return (
    <>
      {made === null ? null : (
        <SecretOnce title="Recovery key created" secret={made.recovery_key} onClose={() => setMade(null)}>
          Print it and keep it apart from the backups and this machine. Without it, the credentials in a backup cannot
          be opened.
        </SecretOnce>
      )}
      {toDo === null ? null : <p className="notice notice-warning">{toDo}</p>}
      <Section
        title="Machine key"
        actions={
          mayRotate ? (
            <OperationButton
              operation="seal.rotate"
              input={{}}
              name={seal.key_id}
              done="Machine key rotated"
              onDone={(answer) => setToDo((answer as { to_do: string }).to_do)}
              consequence={
                <p>{pluralize(seal.sealed, 'credential')} will be sealed again, all or none. No request is dropped.</p>
              }
            >
              Rotate
            </OperationButton>
          ) : null
        }
      >
        <MachineKey seal={seal} />
      </Section>
      <Section
        title="Recovery key"
        actions={
          mayRotate ? (
            <OperationButton
              operation="seal.recovery-key"
              input={{}}
              name={seal.recovery_key_id ?? 'recovery-key'}
              onDone={(answer) => {
                setMade(answer as RecoveryKey)
                void status.refetch()
              }}
            >
              {seal.recovery_key_id === null ? 'Create recovery key' : 'Replace recovery key'}
            </OperationButton>
          ) : null
        }
      >
        {seal.recovery_key_id === null ? (
          <div className="row">
            <StateBadge state="not created" tone="warning" />
            <p className="grow">A backup of credentials needs a recovery key.</p>
          </div>
        ) : (
          <p>
            Backups are sealed for <code>{seal.recovery_key_id}</code>.
          </p>
        )}
      </Section>
    </>
  )
}

function MachineKey({ seal }: { seal: SealStatus }) {
  const { key_id, source, to_replace, format, sealed, broken } = seal
  return (
    <RecordView
      entries={[
        { label: 'Key', value: <code>{key_id}</code> },
        { label: 'Source', value: <code className="breakable">{source}</code> },
        ...(to_replace === null
          ? []
          : [{ label: 'Still to replace', value: <code className="breakable">{to_replace}</code> }]),
        { label: 'Format', value: format },
        { label: 'Sealed', value: pluralize(sealed, 'credential') },
        {
          label: 'All readable',
          value:
            broken.length === 0 ? (
              <StateBadge state="yes" tone="good" />
            ) : (
              <>
                <StateBadge state={`${broken.length} unreadable`} tone="bad" /> {broken.join(', ')}
              </>
            ),
        },
      ]}
    />
  )
}
