import type { ShownState } from '../core/provider-state.ts'
import type { Readiness } from '../store/configuration/snapshot.ts'
import type { Trouble } from './breaker.ts'
import { describeCause } from './failure-cause.ts'
import type { HealthView } from './health.ts'

/** A provider's state on every surface: what live calls found goes first, and where they found nothing wrong, the last check. */
export function showProviderState({ state, reason, since }: Readiness, live: HealthView): ShownState {
  const checked = { state, reason, since }
  if (state === 'failing') return checked
  return showLive(live) ?? checked
}

/** A target's state. It fails with its provider; its own trouble stays its own. It has been ready no longer than was watched. */
export function showTargetState(provider: ShownState, live: HealthView, watchedSince: string): ShownState {
  if (provider.state === 'failing') return provider
  const own = showLive(live)
  if (own !== null || provider.state !== 'ready') return own ?? provider
  const recovered = live.state === 'ready' && live.since !== undefined ? new Date(live.since).toISOString() : ''
  return { ...provider, since: [provider.since ?? '', watchedSince, recovered].reduce((a, b) => (a > b ? a : b)) }
}

/** null: live calls found nothing wrong. A limit that was met is no trouble: the provider keeps its limits. */
function showLive(live: HealthView): ShownState | null {
  switch (live.state) {
    case 'ready':
    case 'limited':
      return null
    case 'open':
    case 'doubtful':
      return { state: 'failing', ...describeTrouble(live.trouble) }
    case 'half-open':
    case 'probing':
      return { state: 'recovering', ...describeTrouble(live.trouble) }
    case 'cooling-down':
      return {
        state: 'failing',
        reason: live.exhausted ? "the provider's account is out of quota" : 'every credential is cooling down',
        since: null,
      }
  }
}

function describeTrouble(trouble: Trouble | undefined): Pick<ShownState, 'reason' | 'since'> {
  if (trouble === undefined) return { reason: 'calls failed repeatedly', since: null }
  const { since, cause, inARow } = trouble
  const calls = inARow > 1 ? `${inARow} calls in a row failed` : 'calls failed repeatedly'
  return { reason: `${calls}: it ${describeCause(cause)}`, since: since === 0 ? null : new Date(since).toISOString() }
}
