import type { ShownState } from '../core/provider-state.ts'
import type { Readiness } from '../store/configuration/snapshot.ts'
import type { HealthView } from './health.ts'

/** A provider's state on every surface: what live calls found goes first, and where they found nothing wrong, the last check. */
export function showProviderState({ state, reason, since }: Readiness, live: HealthView): ShownState {
  const checked = { state, reason, since }
  if (state === 'failing') return checked
  return showLive(live) ?? checked
}

/** A target's state. It fails with its provider; its own trouble stays its own. */
export function showTargetState(provider: ShownState, live: HealthView): ShownState {
  if (provider.state === 'failing') return provider
  return showLive(live) ?? provider
}

/** null: live calls found nothing wrong. */
function showLive(live: HealthView): ShownState | null {
  switch (live.state) {
    case 'ready':
      return null
    case 'open':
      return { state: 'failing', reason: 'paused after repeated failures', since: null }
    case 'half-open':
    case 'probing':
      return { state: 'recovering', reason: 'one trial request at a time after repeated failures', since: null }
    case 'cooling-down':
      return { state: 'failing', reason: 'every credential is cooling down', since: null }
    case 'failing':
      return { state: 'failing', reason: 'credential rejected', since: new Date(live.since).toISOString() }
  }
}
