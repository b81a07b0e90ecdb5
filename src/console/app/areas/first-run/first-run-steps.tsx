import { useState } from 'react'
import { useLive } from '../../live/live.ts'
import { Button, Code, Command, OperationButton, OperationForm, Snippets } from '../../parts/index.ts'
import { useMay } from '../../session/session.ts'
import { useDefaultScope } from '../use-default-scope.ts'
import { firstSnippets } from './first-snippets.ts'
import type { SetUp } from './steps.ts'

interface Choice {
  title: string
  kind: string
  name: string
  fields: readonly string[]
}

const choices: Choice[] = [
  { title: 'OpenAI', kind: 'openai', name: 'openai', fields: ['name', 'credential'] },
  { title: 'Anthropic', kind: 'anthropic', name: 'anthropic', fields: ['name', 'credential'] },
  { title: 'Gemini', kind: 'gemini', name: 'gemini', fields: ['name', 'credential'] },
  { title: 'Other', kind: 'openai-compatible', name: 'local', fields: ['name', 'baseUrl', 'credential', 'preset'] },
]

/** One press for the demo; a name and a credential for the others. All else can be set later, under Providers. */
export function ProviderStep() {
  const [chosen, setChosen] = useState<Choice | null>(null)
  const may = useMay('providers.add')
  if (!may) return <p className="quiet">Ask an admin to add a provider.</p>
  return (
    <div className="stack">
      <div className="row">
        {choices.map((choice) => (
          <Button
            key={choice.kind}
            variant={choice === chosen ? 'primary' : 'plain'}
            aria-pressed={choice === chosen}
            onClick={() => setChosen(choice)}
          >
            {choice.title}
          </Button>
        ))}
        <OperationButton
          operation="providers.add"
          input={{ name: 'demo', kind: 'demo' }}
          name="demo"
          done="Demo provider added. It needs no network access."
        >
          Demo
        </OperationButton>
      </div>
      {chosen === null ? (
        <Command text={'printf %s "$OPENAI_API_KEY" | spgw providers add openai --kind openai --credential-stdin'} />
      ) : (
        <OperationForm
          key={chosen.kind}
          operation="providers.add"
          fixed={{ kind: chosen.kind }}
          preset={{ name: chosen.name }}
          fields={chosen.fields}
          labels={{ baseUrl: 'Base URL' }}
          hints={{ credential: 'Checked with the provider, free of charge, then stored encrypted. Not shown again.' }}
          submit={`Check and add ${chosen.title === 'Other' ? 'provider' : chosen.title}`}
          onDone={() => setChosen(null)}
          onCancel={() => setChosen(null)}
        />
      )}
    </div>
  )
}

/** Models suggested first, where the provider has them. */
const favourites = [/^demo$/, /^gpt-4o-mini$/, /^gpt-.*mini/, /^claude-.*haiku/, /^claude-/, /^gemini-.*flash/, /^gpt-/]

/** A route for a model that the provider has, made by one press; another can be chosen. */
export function RouteStep({ providers }: { providers: SetUp['providers'] }) {
  const provider = providers[0]
  const may = useMay('routes.add')
  const { project } = useDefaultScope('routes.add')
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

export function KeyStep({ onKey }: { onKey(key: string): void }) {
  const defaultScope = useDefaultScope('keys.create')
  const may = useMay('keys.create')
  if (!may) return <p className="quiet">Ask an admin to create a key.</p>
  return (
    <OperationForm
      operation="keys.create"
      fixed={defaultScope}
      preset={{ name: 'first' }}
      fields={['name']}
      hints={{
        name: `For example, the name of the application. Created in ${defaultScope.project}/${defaultScope.environment}.`,
      }}
      submit="Create key"
      onDone={(answer) => {
        const key: unknown = Reflect.get(Object(answer), 'key')
        if (typeof key === 'string') onKey(key)
      }}
    />
  )
}

/** The key, once, and the lines that use it. */
export function RequestStep({ secret, model }: { secret: string | null; model: string }) {
  const { status } = useLive()
  const url = status?.gateway_url ?? 'http://127.0.0.1:8787'
  return (
    <div className="stack">
      {secret === null ? (
        <p className="quiet">The key was shown when it was created. Replace $SPGW_KEY with it.</p>
      ) : (
        <div className="stack-tight">
          <p>Your key, shown only once:</p>
          <Code text={secret} label="Copy key" />
        </div>
      )}
      <Snippets label="Code examples" snippets={firstSnippets(url, model, secret ?? '$SPGW_KEY')} />
    </div>
  )
}
