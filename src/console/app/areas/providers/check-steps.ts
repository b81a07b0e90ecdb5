/** A check as a person follows it: one step stands on the one before. */
export interface CheckStep {
  title: string
  state: 'done' | 'failed' | 'running' | 'waiting'
  note: string | null
}

export interface CheckOutcome {
  ok: boolean
  /** As `providers.check` answers it; null when ok. */
  reason: string | null
  message: string
  models: number | null
}

const titles = ['Connect to the server', 'Find the API at the base URL', 'Verify the credential', 'List the models']

/** At which step a reason ends the check. Anything unknown is no failure of what came before it. */
const failsAt: Record<string, number> = { unreachable: 0, wrong_url: 1, credential_rejected: 2, credential_sealed: 2 }

/** While nothing is known (`null`) the first step is under way: the gateway asks in one go. */
export function checkSteps(outcome: CheckOutcome | null): CheckStep[] {
  if (outcome === null)
    return titles.map((title, index) => ({ title, state: index === 0 ? 'running' : 'waiting', note: null }))
  if (outcome.ok)
    return titles.map((title, index) => ({
      title,
      state: 'done',
      note: index === titles.length - 1 && outcome.models !== null ? `${outcome.models} found` : null,
    }))
  const failed = failsAt[outcome.reason ?? ''] ?? titles.length - 1
  return titles.map((title, index) => {
    if (index < failed) return { title, state: 'done', note: null }
    return index === failed
      ? { title, state: 'failed', note: outcome.message }
      : { title, state: 'waiting', note: null }
  })
}

/** The base URL that the check found to be the right one; null: it says none. */
export function suggestedBaseUrl(message: string): string | null {
  return /The provider answers at (\S+?)[:.,;]?\s/.exec(message)?.[1] ?? null
}
