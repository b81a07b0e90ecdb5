import { useLive } from '../../live/live.ts'
import { entriesOf, RecordView, StateBadge } from '../../parts/index.ts'
import { Loading } from '../../shell/page.tsx'
import { Section } from '../section.tsx'

export function About() {
  const { status } = useLive()
  if (status === null) return <Loading />
  return (
    <>
      {status.degraded.map(({ part, reason }) => (
        <p key={part} className="notice notice-warning">
          <StateBadge state="degraded" /> {part}: {reason}
        </p>
      ))}
      <Section title={`spgw ${status.version}`}>
        <RecordView entries={entriesOf(status, ['version', 'degraded', 'set_aside'])} />
      </Section>
      <Section title="For programs">
        <RecordView
          entries={[
            { label: 'Operations', value: <a href="/api/openapi.json">/api/openapi.json</a> },
            { label: 'Metrics', value: <a href="/metrics">/metrics</a> },
          ]}
        />
      </Section>
    </>
  )
}
