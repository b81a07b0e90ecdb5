import { OperationForm } from '../../parts/index.ts'
import { useMay } from '../../session/session.ts'
import { useHome } from '../use-home.ts'

export function KeyStep({ onKey }: { onKey(key: string): void }) {
  const home = useHome('keys.create')
  const may = useMay('keys.create')
  if (!may) return <p className="quiet">An administrator creates the key.</p>
  return (
    <OperationForm
      operation="keys.create"
      fixed={home}
      preset={{ name: 'first' }}
      fields={['name']}
      hints={{ name: `Such as the application's; for ${home.project} / ${home.environment}` }}
      submit="Create the key"
      onDone={(answer) => {
        const key: unknown = Reflect.get(Object(answer), 'key')
        if (typeof key === 'string') onKey(key)
      }}
    />
  )
}
