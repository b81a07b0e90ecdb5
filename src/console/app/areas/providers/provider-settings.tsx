import { formatMilliseconds } from '../../../../admin/contract/show-value.ts'
import { Missing, type RecordEntry, RecordView, Time, UntrustedText } from '../../parts/index.ts'
import { labelOf } from '../../parts/labels.ts'
import type { Provider } from '../outputs.ts'
import { Section } from '../section.tsx'

export function ProviderSettings({ provider }: { provider: Provider }) {
  return (
    <Section title="Settings">
      <RecordView entries={entriesOf(provider)} />
    </Section>
  )
}

function entriesOf(provider: Provider): RecordEntry[] {
  const { kind, base_url, projects, settings, headers, timeouts, tags, created_at } = provider
  const kindEntry = { label: 'Kind', value: kind }
  if (base_url === null)
    return [kindEntry, { label: 'Other settings', value: 'Visible only with a role for the whole workspace' }]
  return [
    kindEntry,
    ...(kind === 'demo' ? [] : [{ label: 'Base URL', value: <Address url={base_url} /> }]),
    ...Object.entries(settings).map(([name, value]) => ({
      label: labelOf(name),
      value: <UntrustedText text={String(value)} />,
    })),
    { label: 'Projects', value: projects === null ? 'All projects' : projects.join(', ') },
    ...(kind === 'demo' ? [] : [{ label: 'Timeouts', value: describeTimeouts(timeouts) }]),
    { label: 'Extra headers', value: <Pairs pairs={headers} /> },
    { label: 'Tags', value: <Pairs pairs={tags} /> },
    { label: 'Added', value: <Time at={created_at} /> },
  ]
}

function Address({ url }: { url: string }) {
  return (
    <code className="breakable">
      <UntrustedText text={url} />
    </code>
  )
}

export function Pairs({ pairs }: { pairs: Readonly<Record<string, string>> }) {
  const entries = Object.entries(pairs)
  if (entries.length === 0) return <Missing />
  return (
    <ul className="nested">
      {entries.map(([name, value]) => (
        <li key={name}>
          <code>
            <UntrustedText text={`${name}: ${value}`} />
          </code>
        </li>
      ))}
    </ul>
  )
}

const words = {
  connect_ms: 'connect',
  first_byte_ms: 'first byte',
  between_chunks_ms: 'between chunks',
  total_ms: 'total',
} as const

export function describeTimeouts(timeouts: Provider['timeouts']): string {
  const own = (Object.keys(words) as (keyof typeof words)[]).flatMap((name) => {
    const value = timeouts[name]
    return value === null ? [] : [`${words[name]} ${formatMilliseconds(value)}`]
  })
  return own.length === 0 ? 'Gateway defaults' : `${own.join(', ')}; otherwise gateway defaults`
}
