import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { Pencil, RotateCw } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { orpc } from '../../client/admin.ts'
import { Button, Dialog, Empty, FaultNotice, OperationForm, toast } from '../../parts/index.ts'
import { useMay } from '../../session/session.ts'
import { keepScope } from '../../shell/keys.ts'
import { Loading, Page } from '../../shell/page.tsx'
import { ManagedNotice } from '../managed-notice.tsx'
import type { CreatedKey, Key } from '../outputs.ts'
import { Section } from '../section.tsx'
import { KeyActivity } from './key-activity.tsx'
import { KeyDetails } from './key-details.tsx'
import { KeyState, referenceTo } from './key-display.tsx'
import { KeyRemoval } from './key-removal.tsx'
import { KeySnippets } from './key-snippets-view.tsx'
import { ShownOnce } from './shown-once.tsx'

export function KeyPage() {
  const { key: id } = useParams({ from: '/app/keys/$key' })
  const keys = useQuery(orpc.keys.list.queryOptions({ input: { all: true } }))
  const key = keys.data?.find((one) => one.id === id)
  const above = (
    <Link to="/keys" search={keepScope}>
      Keys
    </Link>
  )
  if (key !== undefined) return <KeyView shown={key} above={above} />
  return (
    <Page title="Key" above={above}>
      {keys.isPending ? <Loading /> : null}
      {keys.error ? <FaultNotice error={keys.error} onRetry={() => void keys.refetch()} /> : null}
      {keys.data === undefined ? null : (
        <Empty title="Key not found" action={above}>
          It may have been removed. Its requests keep its name.
        </Empty>
      )}
    </Page>
  )
}

type RotatedKey = CreatedKey & { grace_ends_at: string | null }

function KeyView({ shown: key, above }: { shown: Key; above: ReactNode }) {
  const [rotated, setRotated] = useState<RotatedKey | null>(null)
  return (
    <Page
      title={key.name}
      above={above}
      beside={<KeyState {...key} />}
      actions={<Actions shown={key} onRotated={setRotated} />}
    >
      {rotated === null ? null : (
        <ShownOnce made={rotated} graceEndsAt={rotated.grace_ends_at} onClose={() => setRotated(null)} />
      )}
      <ManagedNotice owned={key.owned} />
      <div className="sections">
        <KeyDetails shown={key} />
        <KeyActivity shown={key} />
        {key.state === 'active' && rotated === null ? (
          <Section title="Use this key" wide>
            <KeySnippets scope={key} secret={null} />
          </Section>
        ) : null}
      </div>
    </Page>
  )
}

function Actions({ shown: key, onRotated }: { shown: Key; onRotated(rotated: RotatedKey): void }) {
  const may = useMay('keys.edit', key.project)
  const [panel, setPanel] = useState<'edit' | 'rotate' | null>(null)
  const navigate = useNavigate()
  const close = () => setPanel(null)
  if (!may) return null
  return (
    <>
      {key.state === 'revoked' ? null : (
        <>
          <Button icon={<RotateCw size={16} aria-hidden="true" />} onClick={() => setPanel('rotate')}>
            Rotate
          </Button>
          <Button icon={<Pencil size={16} aria-hidden="true" />} onClick={() => setPanel('edit')}>
            Edit
          </Button>
        </>
      )}
      <KeyRemoval shown={key} onRemoved={() => void navigate({ to: '/keys', search: keepScope })} />
      <Dialog open={panel === 'edit'} title={`Edit ${key.name}`} onClose={close}>
        <EditKey shown={key} onClose={close} />
      </Dialog>
      <Dialog open={panel === 'rotate'} title={`Rotate ${key.name}`} onClose={close}>
        <div className="stack">
          <p className="quiet">
            Creates a new secret, shown only once. The old secret stays valid for the grace period, so that applications
            can switch without interruption.
          </p>
          <OperationForm
            operation="keys.rotate"
            fixed={referenceTo(key)}
            fields={['grace']}
            submit="Rotate"
            onCancel={close}
            onDone={(answer) => {
              close()
              onRotated(answer as RotatedKey)
            }}
          />
        </div>
      </Dialog>
    </>
  )
}

function EditKey({ shown: key, onClose }: { shown: Key; onClose(): void }) {
  const policies = useQuery(orpc.policies.list.queryOptions({ input: {} }))
  return (
    <OperationForm
      operation="keys.edit"
      fixed={referenceTo(key)}
      initial={{ name: key.name, expires: key.expires_at ?? 'never', policy: key.policy ?? 'none', tags: key.tags }}
      fields={['name', 'expires', 'policy', 'tags']}
      folded={Object.keys(key.owned).length > 0 ? ['force'] : []}
      suggestions={{
        policy: ['none', ...(policies.data?.map(({ name }) => name) ?? [])],
        expires: ['never', '7d', '30d', '90d'],
      }}
      submit="Save"
      onCancel={onClose}
      onDone={() => {
        toast({ tone: 'good', title: 'Key updated' })
        onClose()
      }}
    />
  )
}
