import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { laneNames } from '../../../../core/lane.ts'
import { orpc } from '../../client/admin.ts'
import { Button, Dialog, OperationButton, OperationForm, Time, toast, UntrustedText } from '../../parts/index.ts'
import { useMay } from '../../session/session.ts'
import type { Environment } from '../outputs.ts'
import { hasUsers, ScopeRefusal, useScopeUsers } from './scope-users.tsx'

export function EnvironmentRow({ environment }: { environment: Environment }) {
  const [editing, setEditing] = useState(false)
  const providers = useQuery({ ...orpc.providers.list.queryOptions({ input: {} }), enabled: editing })
  const { name, project, default_providers, created_at } = environment
  const may = useMay('environments.edit', project)
  const mayRemove = useMay('environments.remove', project)
  const users = useScopeUsers(project, name, mayRemove)
  const defaults = laneNames.flatMap((lane) => {
    const provider = default_providers[lane]
    return provider === null ? [] : [[lane, provider] as const]
  })
  const close = () => setEditing(false)
  return (
    <li className="list-row">
      <span className="grow">
        <b>
          <UntrustedText text={name} />
        </b>{' '}
        <span className="small quiet">
          Created <Time at={created_at} />
          {defaults.map(([lane, provider]) => ` · Default for ${lane}: ${provider}`)}
        </span>
      </span>
      {may ? (
        <Button small onClick={() => setEditing(true)}>
          Edit
        </Button>
      ) : null}
      {mayRemove ? (
        <OperationButton
          small
          operation="environments.remove"
          owned={environment.owned}
          input={{ name, project }}
          name={name}
          done={`Environment "${name}" removed`}
          consequence={<p>In project {project}.</p>}
          {...(hasUsers(users)
            ? {
                refusal: (
                  <ScopeRefusal subject={`environment ${name}`} users={users} scope={{ project, environment: name }} />
                ),
              }
            : {})}
        >
          Remove
        </OperationButton>
      ) : null}
      <Dialog open={editing} title={`Edit ${project}/${name}`} onClose={close}>
        <OperationForm
          operation="environments.edit"
          fixed={{ name, project }}
          initial={{ rename: name, defaultProviders: Object.fromEntries(defaults) }}
          hints={{
            defaultProviders: `For requests without a model, such as files. Name: a lane (${laneNames.join(', ')}). Value: a provider (${
              providers.data?.map((provider) => provider.name).join(', ') ?? '…'
            })`,
          }}
          submit="Save"
          onCancel={close}
          onDone={() => {
            toast({ tone: 'good', title: 'Environment updated' })
            close()
          }}
        />
      </Dialog>
    </li>
  )
}
