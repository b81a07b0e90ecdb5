import { useFilterChange } from './filter-chips.tsx'

export const spans = [
  { since: '15m', title: 'Last 15 min' },
  { since: '1h', title: 'Last hour' },
  { since: '24h', title: 'Last 24 h' },
  { since: '7d', title: 'Last 7 days' },
  { since: '30d', title: 'Last 30 days' },
  { since: 'all', title: 'All' },
] as const

export function SpanChoice({ since = '24h' }: { since: string | undefined }) {
  const change = useFilterChange()
  const known = spans.some((span) => span.since === since)
  return (
    <select
      className="input span-choice"
      aria-label="Span of time"
      value={since}
      onChange={(event) =>
        change({ since: event.target.value === '24h' ? undefined : event.target.value, until: undefined })
      }
    >
      {known ? null : <option value={since}>Since {since}</option>}
      {spans.map((span) => (
        <option key={span.since} value={span.since}>
          {span.title}
        </option>
      ))}
    </select>
  )
}
