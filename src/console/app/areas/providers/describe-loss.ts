import type { Route } from '../outputs.ts'

/** What a route is without a provider: `loses its first target; requests go to azure`. */
export function describeLoss({ targets, strategy }: Pick<Route, 'targets' | 'strategy'>, provider: string): string {
  // As they are tried: those of one priority in the order of the list. A target without weight gets nothing.
  const ordered = targets.filter(({ weight }) => weight > 0).toSorted((one, other) => one.priority - other.priority)
  const at = ordered.findIndex((target) => target.provider === provider)
  const own = ordered[at]
  const left = ordered.filter((target) => target.provider !== provider)
  const [next] = left
  if (own === undefined) return 'loses a target that gets no requests'
  if (next === undefined)
    return `loses its only ${targets.length === 1 ? 'target' : 'targets'}: requests are rejected with provider_not_ready`
  if (strategy !== 'priority' && left.some(({ priority }) => priority === own.priority))
    return `loses its share at ${provider}; the other targets take it`
  return at === 0
    ? `loses its first target; requests go to ${next.provider}`
    : `loses target ${at + 1} of ${ordered.length}, a fallback`
}
