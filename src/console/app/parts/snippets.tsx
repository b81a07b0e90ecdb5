import { useState } from 'react'
import { CopyButton } from './copy-button.tsx'
import { Tabs } from './tabs.tsx'

interface Snippet {
  title: string
  code: string
}

/** Ready code in several languages; the chosen one is remembered. */
export function Snippets({ label, snippets }: { label: string; snippets: readonly Snippet[] }) {
  const [chosen, setChosen] = useState(() => localStorage.getItem('spgw-snippet') ?? '')
  const shown = snippets.find(({ title }) => title === chosen) ?? snippets[0]
  if (shown === undefined) return null
  const choose = (title: string) => {
    localStorage.setItem('spgw-snippet', title)
    setChosen(title)
  }
  return (
    <Tabs
      label={label}
      tabs={snippets.map(({ title }) => ({ value: title, title }))}
      value={shown.title}
      onChange={choose}
    >
      <Code text={shown.code} />
    </Tabs>
  )
}

/** A block of text to copy whole. Long lines break: nothing hides behind an edge. */
export function Code({ text, label = 'Copy' }: { text: string; label?: string }) {
  return (
    <div className="code">
      <pre>
        <code>{text}</code>
      </pre>
      <CopyButton brief text={text} label={label} />
    </div>
  )
}
