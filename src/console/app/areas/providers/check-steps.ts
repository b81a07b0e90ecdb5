/** A check as a list of steps; each depends on the one before. */
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

/** null: the check is running. The gateway does all steps in one call, so the first is shown as running. */
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
