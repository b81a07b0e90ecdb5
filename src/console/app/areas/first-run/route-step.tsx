import { OperationForm } from '../../parts/index.ts'
import { useMay } from '../../session/session.ts'
import { useHome } from '../use-home.ts'
import type { SetUp } from './steps.ts'

/** What people ask for first, where the provider has it. */
const favourites = [/^demo$/, /^gpt-4o-mini$/, /^gpt-.*mini/, /^claude-.*haiku/, /^claude-/, /^gemini-.*flash/, /^gpt-/]

/** A route for a model that the provider has, made by one press; another can be chosen. */
export function RouteStep({ providers }: { providers: SetUp['providers'] }) {
  const provider = providers[0]
  const may = useMay('routes.add')
  const { project } = useHome('routes.add')
  if (provider === undefined) return null
  if (!may) return <p className="quiet">Ask an admin to add a route.</p>
  const names = provider.models.map(({ name }) => name)
  const favourite = favourites.map((form) => names.find((name) => form.test(name))).find((name) => name !== undefined)
  return (
    <OperationForm
      operation="routes.add"
      fixed={{ project, allEnvironments: true }}
      preset={{ model: favourite ?? names[0] ?? '', provider: provider.name }}
      fields={['model', 'provider']}
      suggestions={{ model: names, provider: providers.map(({ name }) => name) }}
      hints={{ model: 'The model name that clients send. * matches any text.' }}
      submit="Add route"
      onDone={() => {}}
    />
  )
}
