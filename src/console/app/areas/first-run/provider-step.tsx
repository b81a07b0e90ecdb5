import { useState } from 'react'
import { Button, Command, OperationButton, OperationForm } from '../../parts/index.ts'
import { useMay } from '../../session/session.ts'

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
            look={choice === chosen ? 'primary' : 'plain'}
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
