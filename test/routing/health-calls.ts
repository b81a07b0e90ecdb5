import type { CallOutcome, Health, HealthTarget } from '../../src/routing/health.ts'

export const answered: CallOutcome = { provider: 'success', target: 'success', cause: 0 }
export const refused: CallOutcome = { provider: 'success', target: 'neutral', cause: 0 }
export const broken: CallOutcome = { provider: 'success', target: 'failure', cause: 500 }
export const cut: CallOutcome = { provider: 'failure', target: 'failure', cause: 2 }

/** One call from its start to its end; false: it was not let in. */
export function call(
  health: Health,
  target: HealthTarget,
  outcome: CallOutcome,
  caller: string | null,
  now: number,
): boolean {
  const entry = health.enter(target, caller, now)
  if (entry !== null) health.record(entry, target, outcome, caller, now)
  return entry !== null
}

export function failTarget(
  health: Health,
  target: HealthTarget,
  times: number,
  now: number,
  caller: string | null = null,
): void {
  for (let count = 0; count < times; count++) call(health, target, broken, caller, now)
}
