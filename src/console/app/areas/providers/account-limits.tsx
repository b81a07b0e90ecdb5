import { LimitBarList } from '../keys/limit-bars.tsx'
import type { Provider } from '../outputs.ts'
import { Section } from '../section.tsx'

/** What the account may be used for, and what is used of that. */
export function AccountLimits({ provider }: { provider: Provider }) {
  if (provider.limits.length === 0) return null
  const limits = provider.limits.map((limit) => ({ ...limit, policy: '' }))
  return (
    <Section title="Account limits">
      <LimitBarList limits={limits} detailed ofOne label={`Limits of the account of ${provider.name}`} />
      <p className="small quiet">Of all keys together. Over a limit, the next target of a route serves.</p>
    </Section>
  )
}
