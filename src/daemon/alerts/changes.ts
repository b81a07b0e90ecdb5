import type { AlertEvent, AlertMessage } from '../../core/alert.ts'
import { type AlertCondition, lasts, providerCrossing } from './conditions.ts'

export interface Changes {
  crossed: string[]
  ended: string[]
  reports: AlertReport[]
}

export interface AlertReport {
  /** What was crossed, or is over. */
  crossing: string
  /** What was crossed with it, and is not reported by itself any more. */
  includes: readonly string[]
  /** Names of all these in an earlier version, in the same order. */
  formerly?: readonly string[] | undefined
  message: AlertMessage
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
  const crossed = wanted.filter(({ fires, crossing }) => fires && !reported.has(crossing))
  const fresh = crossed.filter(({ crossing, formerly: [former = crossing] = [] }) => !reported.has(former))
  const current = new Set([...unknown, ...conditions.map(({ crossing }) => crossing)])
  const ended = [...reported].filter((crossing) => !current.has(crossing) && !lasts(crossing))
  const recovered = ended.flatMap((crossing): AlertReport[] => {
    const provider = providers.find(({ id }) => crossing === providerCrossing(id))
    if (provider === undefined || !events.includes('provider')) return []
    const text = `Provider ${provider.name} works again.`
    const data = { resource: `provider:${provider.name}`, scope: null, percent: null, text }
    return [{ crossing, includes: [], message: { type: 'provider.recovered', timestamp, data } }]
  })
  return {
    crossed: crossed.flatMap(({ crossing, includes }) => [crossing, ...includes]),
    ended,
    reports: [
      ...fresh.map(({ crossing, includes, formerly, type, data }) => ({
        ...{ crossing, includes, formerly },
        message: { type, timestamp, data },
      })),
      ...recovered,
    ],
  }
}
