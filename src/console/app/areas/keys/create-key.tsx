import { useState } from 'react'
import { OperationForm } from '../../parts/index.ts'
import type { CreatedKey } from '../outputs.ts'
import { ScopeFields, type ScopeValue } from '../scope-fields.tsx'
import { useDefaultScope } from '../use-default-scope.ts'
import { usePolicyChoices } from './use-policy-choices.ts'

export function CreateKey({ onDone, onCancel }: { onDone(made: CreatedKey): void; onCancel(): void }) {
  const defaultScope = useDefaultScope('keys.create')
  const [chosen, setChosen] = useState<ScopeValue | null>(null)
  const scope = chosen ?? defaultScope
  const policy = usePolicyChoices('')
  return (
    <OperationForm
      operation="keys.create"
      fixed={{ project: scope.project, environment: scope.environment ?? 'production' }}
      fields={['name', 'policy', 'expires']}
      folded={['tags']}
      choices={{ policy }}
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
