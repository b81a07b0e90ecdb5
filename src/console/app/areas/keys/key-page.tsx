import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { Pencil, RotateCw } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { orpc } from '../../client/admin.ts'
import { Button, Dialog, Empty, OperationForm, QueryFault, toast } from '../../parts/index.ts'
import { useScope } from '../../session/scope.ts'
import { useMay } from '../../session/session.ts'
import { keepScope } from '../../shell/keys.ts'
import { Loading, Page } from '../../shell/page.tsx'
import { usePanel } from '../../shell/use-panel.ts'
import { findResources } from '../find-resources.ts'
import { ManagedNotice } from '../managed-notice.tsx'
import type { CreatedKey, Key } from '../outputs.ts'
import { ResourceChoice } from '../resource-choice.tsx'
import { Section } from '../section.tsx'
import { KeyActivity } from './key-activity.tsx'
import { KeyDetails } from './key-details.tsx'
import { KeyMark, KeyState, referenceTo } from './key-display.tsx'
import { KeyRemoval } from './key-removal.tsx'
import { KeySnippets } from './key-snippets-view.tsx'
import { ShownOnce } from './shown-once.tsx'
import { usePolicyChoices } from './use-policy-choices.ts'

export function KeyPage() {
  const { key: reference } = useParams({ from: '/app/keys/$key' })
  const scope = useScope()
  const keys = useQuery(orpc.keys.list.queryOptions({ input: { all: true } }))
  const found = findResources(keys.data ?? [], reference, ({ name }) => name, scope)
  const [key] = found
  const above = (
    <Link to="/keys" search={keepScope}>
      Keys
    </Link>
  )
  if (key !== undefined && found.length === 1) return <KeyView key={key.id} shown={key} above={above} />
  return (
    <Page title={reference} above={above}>
      {keys.isPending ? <Loading /> : null}
      <QueryFault of={keys} />
      {found.length > 1 ? (
        <ResourceChoice
          noun="key"
          name={reference}
          rows={found}
          rowKey={({ id }) => id}
          link={({ id, project, environment, last_four }) => (
            <>
              <Link to="/keys/$key" params={{ key: id }} search={keepScope} className="grow">
                {project}/{environment}
              </Link>
              <KeyMark lastFour={last_four} />
            </>
          )}
        />
      ) : null}
      {keys.data !== undefined && found.length === 0 ? (
        <Empty title={`No key is named ${reference}`} action={above} command="spgw keys list --all">
          The name may be misspelled, or the key has been removed. Requests keep the name of a removed key.
        </Empty>
      ) : null}
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
      beside={<KeyState {...key} detailed />}
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
  const [panel, setPanel] = usePanel(['edit', 'rotate', 'revoke'])
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
      <KeyRemoval
        shown={key}
        revoking={panel === 'revoke'}
        onRevoke={(asking) => setPanel(asking ? 'revoke' : null)}
        onRemoved={() => void navigate({ to: '/keys', search: keepScope })}
      />
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
  const policy = usePolicyChoices('none')
  return (
    <OperationForm
      operation="keys.edit"
      fixed={referenceTo(key)}
      initial={{ name: key.name, expires: key.expires_at ?? 'never', policy: key.policy ?? 'none', tags: key.tags }}
      fields={['name', 'expires', 'policy', 'tags']}
      folded={Object.keys(key.owned).length > 0 ? ['force'] : []}
      choices={{ policy }}
      suggestions={{ expires: ['never', '7d', '30d', '90d'] }}
      submit="Save"
      onCancel={onClose}
      onDone={() => {
        toast({ tone: 'good', title: 'Key updated' })
        onClose()
      }}
    />
  )
}
