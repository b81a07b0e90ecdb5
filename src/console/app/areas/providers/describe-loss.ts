import type { Route } from '../outputs.ts'

/** What a route is without a provider: `loses its first target; requests go to azure`. */
export function describeLoss({ targets, strategy }: Pick<Route, 'targets' | 'strategy'>, provider: string): string {
  const left = targets.filter((target) => target.provider !== provider)
  const [next] = left
  if (next === undefined)
    return `loses its only ${targets.length === 1 ? 'target' : 'targets'}: requests are rejected with provider_not_ready`
  if (strategy === 'weighted') return `loses its share at ${provider}; the other targets take it`
  const at = targets.findIndex((target) => target.provider === provider)
  return at === 0
    ? `loses its first target; requests go to ${next.provider}`
    : `loses target ${at + 1} of ${targets.length}, a fallback`
}
