import { OperationForm } from '../../parts/index.ts'
import { useMay } from '../../session/session.ts'
import { useHome } from '../use-home.ts'

export function KeyStep({ onKey }: { onKey(key: string): void }) {
  const home = useHome('keys.create')
  const may = useMay('keys.create')
  if (!may) return <p className="quiet">Ask an admin to create a key.</p>
  return (
    <OperationForm
      operation="keys.create"
      fixed={home}
      preset={{ name: 'first' }}
      fields={['name']}
      hints={{ name: `For example, the name of the application. Created in ${home.project}/${home.environment}.` }}
      submit="Create key"
      onDone={(answer) => {
        const key: unknown = Reflect.get(Object(answer), 'key')
        if (typeof key === 'string') onKey(key)
      }}
    />
  )
}
