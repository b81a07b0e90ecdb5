import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { orpc } from '../../client/admin.ts'
import { OperationForm } from '../../parts/index.ts'
import type { CreatedKey } from '../outputs.ts'
import { ScopeFields, type ScopeValue } from '../scope-fields.tsx'
import { useDefaultScope } from '../use-default-scope.ts'

export function CreateKey({ onDone, onCancel }: { onDone(made: CreatedKey): void; onCancel(): void }) {
  const defaultScope = useDefaultScope('keys.create')
  const [chosen, setChosen] = useState<ScopeValue | null>(null)
  const scope = chosen ?? defaultScope
  const policies = useQuery(orpc.policies.list.queryOptions({ input: {} }))
  return (
    <OperationForm
      operation="keys.create"
      fixed={{ project: scope.project, environment: scope.environment ?? 'production' }}
      fields={['name', 'expires']}
      folded={['policy', 'tags']}
      suggestions={{ policy: policies.data?.map(({ name }) => name) ?? [] }}
      hints={{
        name: 'What uses the key, such as ci or web. Shown on every request.',
        expires: 'A duration such as 90d, or a date and time. Leave empty for no expiry.',
      }}
      submit="Create key"
      onDone={(answer) => onDone(answer as CreatedKey)}
      onCancel={onCancel}
    >
      <ScopeFields value={scope} onChange={setChosen} operation="keys.create" />
    </OperationForm>
  )
}
