import { useQuery } from '@tanstack/react-query'
import { Send } from 'lucide-react'
import { useState } from 'react'
import { orpc } from '../../client/admin.ts'
import { useLive } from '../../live/live.ts'
import { FaultView } from '../../parts/fault-notice.tsx'
import { Button, Code, Command, LinkButton, OperationButton, OperationForm, Snippets } from '../../parts/index.ts'
import { useMay } from '../../session/session.ts'
import { keepScope } from '../../shell/keys.ts'
import { useResponse } from '../playground/use-response.ts'
import { freeName } from '../providers/add-choices.ts'
import { useDefaultScope } from '../use-default-scope.ts'
import { firstSnippets } from './first-snippets.ts'
import { favouriteOf, type SetUp } from './set-up.ts'

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
        <LinkButton to="/providers" search={(before) => ({ ...keepScope(before), add: 'openai-compatible' })}>
          Other
        </LinkButton>
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
          needed={['credential']}
          hints={{ credential: 'Checked with the provider, free of charge, then stored encrypted. Not shown again.' }}
          submit={`Check and add ${chosen.title}`}
          onDone={() => setChosen(null)}
          onCancel={() => setChosen(null)}
        />
      )}
    </div>
  )
}

/** A route for a model that the provider has, made by one press; another can be chosen. */
export function RouteStep({ providers }: { providers: SetUp['providers'] }) {
  const provider = providers[0]
  const may = useMay('routes.add')
  const scope = useDefaultScope('routes.add')
  if (provider === undefined) return null
  if (!may) return <p className="quiet">Ask an admin to add a route.</p>
  const names = provider.models.map(({ name }) => name)
  return (
    <OperationForm
      operation="routes.add"
      fixed={scope}
      preset={{ model: favouriteOf(names), provider: provider.name }}
      fields={['model', 'provider']}
      needed={['provider']}
      suggestions={{ model: names, provider: providers.map(({ name }) => name) }}
      hints={{
        model: 'The name that clients send and the provider knows. * matches any text.',
        provider: `Where its requests are sent. The route is for ${scope.project}/${scope.environment}.`,
      }}
      submit="Add route"
      onDone={() => {}}
    />
  )
}

export function KeyStep({ onKey }: { onKey(key: string): void }) {
  const may = useMay('keys.create')
  if (!may) return <p className="quiet">Ask an admin to create a key.</p>
  return <KeyForm name="first" onKey={onKey} />
}

function KeyForm({ name, onKey }: { name: string; onKey(key: string): void }) {
  const defaultScope = useDefaultScope('keys.create')
  return (
    <OperationForm
      operation="keys.create"
      fixed={defaultScope}
      preset={{ name }}
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
export function RequestStep({
  secret,
  model,
  onKey,
}: {
  secret: string | null
  model: string
  onKey(key: string): void
}) {
  const { status } = useLive()
  const url = status?.gateway_url ?? 'http://127.0.0.1:8787'
  return (
    <div className="stack">
      {secret === null ? (
        <AnotherKey onKey={onKey} />
      ) : (
        <div className="stack-tight">
          <p>Your key, shown only once:</p>
          <Code text={secret} label="Copy key" />
        </div>
      )}
      <SendFromHere model={model} secret={secret} />
      <Snippets label="Code examples" snippets={firstSnippets(url, model, secret ?? '$SPGW_KEY')} />
    </div>
  )
}

/** The page was left after the key had been shown. */
function AnotherKey({ onKey }: { onKey(key: string): void }) {
  const [open, setOpen] = useState(false)
  const keys = useQuery(orpc.keys.list.queryOptions({ input: { all: true } }))
  const may = useMay('keys.create')
  const name = freeName('first', keys.data?.map((key) => key.name) ?? [])
  return (
    <div className="stack-tight">
      <p className="row">
        <span className="quiet">The key was shown when it was created. Replace $SPGW_KEY with it.</span>
        {may && !open ? (
          <Button small onClick={() => setOpen(true)}>
            Create another key
          </Button>
        ) : null}
      </p>
      {open && keys.data !== undefined ? <KeyForm name={name} onKey={onKey} /> : null}
    </div>
  )
}

/** One request, sent by the gateway itself as the playground does it. */
function SendFromHere({ model, secret }: { model: string; secret: string | null }) {
  const may = useMay('requests.send')
  const scope = useDefaultScope('requests.send')
  const { answer, fault, busy, send } = useResponse()
  if (!may) return null
  const key = secret === null ? {} : { key: secret.slice(-4) }
  const press = () => void send({ ...scope, ...key, model, message: 'hello' })
  return (
    <div className="stack-tight">
      <div className="row">
        <Button variant="primary" busy={busy} icon={<Send size={14} aria-hidden="true" />} onClick={press}>
          Send it from here
        </Button>
        <span className="quiet">or run one of these:</span>
      </div>
      {fault === null ? null : <FaultView fault={fault} />}
      {answer === null || answer.text === '' ? null : <Code text={answer.text} label="Copy response" />}
    </div>
  )
}
