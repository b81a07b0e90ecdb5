import { RecordView, Time } from '../../parts/index.ts'
import type { Route } from '../outputs.ts'
import { limitsInWords } from '../providers/provider-settings.tsx'
import { Section } from '../section.tsx'

/** What the record says of itself already stands in the picture; the rest is here. */
export function RouteSettings({ route }: { route: Route }) {
  const { retries, fallback_on, timeouts, strict, created_at, strategy } = route
  return (
    <Section title="Settings">
      <RecordView
        entries={[
          { label: 'Strategy', value: strategy },
          { label: 'Retries', value: `${retries} per target` },
          {
            label: 'Fallback on',
            value: fallback_on.length === 0 ? 'Default: 408, 425, 429, 5xx, no response' : fallback_on.join(', '),
          },
          { label: 'Timeouts', value: limitsInWords(timeouts) },
          {
            label: 'Strict',
            value: strict ? 'Yes, requests that would lose something in translation are rejected' : 'No',
          },
          { label: 'Added', value: <Time at={created_at} /> },
        ]}
      />
    </Section>
  )
}
