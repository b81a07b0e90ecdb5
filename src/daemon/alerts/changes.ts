import type { AlertEvent, AlertMessage } from '../../core/alert.ts'
import { type AlertCondition, lasts, providerCrossing } from './conditions.ts'

export interface Changes {
  crossed: string[]
  ended: string[]
  messages: AlertMessage[]
}

interface Look {
  now: number
  providers: readonly { id: string; name: string }[]
  /** Crossings of which nobody can say now whether they hold: those that were reported are not over. */
  unknown: ReadonlySet<string>
}

/** What one alert has to report, given what it has reported before. */
export function findChanges(
  events: readonly AlertEvent[],
  conditions: readonly AlertCondition[],
  reported: ReadonlySet<string>,
  { now, providers, unknown }: Look,
): Changes {
  const timestamp = new Date(now).toISOString()
  const wanted = conditions.filter(({ event }) => events.includes(event))
  const fresh = wanted.filter(({ fires, crossing }) => fires && !reported.has(crossing))
  const current = new Set([...unknown, ...conditions.map(({ crossing }) => crossing)])
  const ended = [...reported].filter((crossing) => !current.has(crossing) && !lasts(crossing))
  const recovered = ended.flatMap((crossing): AlertMessage[] => {
    const provider = providers.find(({ id }) => crossing === providerCrossing(id))
    if (provider === undefined || !events.includes('provider')) return []
    const text = `Provider ${provider.name} works again.`
    const data = { resource: `provider:${provider.name}`, scope: null, percent: null, text }
    return [{ type: 'provider.recovered', timestamp, data }]
  })
  return {
    crossed: fresh.flatMap(({ crossing, includes }) => [crossing, ...includes]),
    ended,
    messages: [...fresh.map(({ type, data }) => ({ type, timestamp, data })), ...recovered],
  }
}
