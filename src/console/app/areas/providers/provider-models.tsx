import { useState } from 'react'
import { Button, Count, Empty, UntrustedText } from '../../parts/index.ts'
import type { Provider } from '../outputs.ts'
import { Section } from '../section.tsx'

const shownAtFirst = 12

/** As the provider listed them at its last good check. */
export function ProviderModels({ provider: { models, name } }: { provider: Provider }) {
  const [all, setAll] = useState(false)
  const [text, setText] = useState('')
  const found = models.filter((model) => model.name.toLowerCase().includes(text.trim().toLowerCase()))
  const shown = all || text !== '' ? found.slice(0, 500) : found.slice(0, shownAtFirst)
  return (
    <Section title="Models" actions={<span className="quiet number">{models.length}</span>}>
      {models.length === 0 ? (
        <Empty title="No models yet" command={`spgw providers check ${name}`}>
          A check reads them from the provider’s model list. Some servers have no list; routes work without it.
        </Empty>
      ) : (
        <>
          {models.length > shownAtFirst ? (
            <input
              className="input filter below"
              aria-label="Filter models"
              placeholder="Filter models"
              value={text}
              onChange={(event) => setText(event.target.value)}
            />
          ) : null}
          <ul className="list model-list" aria-label="Models">
            {shown.map((model) => (
              <li key={model.name} className="list-row">
                <code className="grow breakable">
                  <UntrustedText text={model.name} />
                </code>
                {model.context_tokens === null ? null : (
                  <span className="small quiet">
                    <Count value={model.context_tokens} unit="tokens" />
                  </span>
                )}
              </li>
            ))}
          </ul>
          {shown.length < found.length && !all ? (
            <Button small className="below" onClick={() => setAll(true)}>
              Show all {found.length}
            </Button>
          ) : null}
        </>
      )}
    </Section>
  )
}
