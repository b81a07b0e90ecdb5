import type { Tone } from '../../../../admin/contract/show-value.ts'
import type { Explanation, Provider, RouteTarget } from '../outputs.ts'

/** What a request would find at a target now, in words. */
export interface TargetState {
  word: string
  tone: Tone
  /** What is behind the word; null: nothing more. */
  reason: string | null
}

const tones: Record<string, Tone> = {
  ready: 'good',
  unchecked: 'warning',
  recovering: 'warning',
  'cooling down': 'warning',
  skipped: 'warning',
  inactive: 'quiet',
  failing: 'bad',
  missing: 'bad',
}

/**
 * The target's own state, in the word that every surface has for it. What else keeps a request from it (a project, a
 * cooldown of the credential) only the plan of a request knows.
 */
export function stateOfTarget(
  target: RouteTarget,
  model: string,
  provider: Provider | undefined,
  explanation: Explanation | undefined,
): TargetState {
  if (provider === undefined) return state('missing', 'Provider not found')
  if (!provider.active) return state('inactive', null)
  const upstream = target.upstream_model ?? model
  const isThis = (other: { provider: string; upstream_model: string }) =>
    other.provider === target.provider && other.upstream_model === upstream
  const skipped = explanation?.skipped.find(isThis)
  if (target.state === 'failing') return failing(target, skipped?.reason ?? null)
  if (provider.state === 'failing') return failing(provider, skipped?.reason ?? null)
  if (target.state !== 'recovering' && skipped !== undefined)
    return state(/\b(rest|cool)/i.test(skipped.reason) ? 'cooling down' : 'skipped', skipped.reason)
  return state(target.state, target.state_reason)
}

function failing(
  { state_reason, state_since }: Pick<Provider, 'state_reason' | 'state_since'>,
  reason: string | null,
): TargetState {
  const since = state_since === null ? '' : ` since ${timeOfDay(state_since)}`
  return { word: `failing${since}`, tone: 'bad', reason: state_reason ?? reason }
}

function state(word: string, reason: string | null): TargetState {
  return { word, tone: tones[word] ?? 'strong', reason }
}

/** `14:02`; with the day where it is not today. */
function timeOfDay(at: string): string {
  const date = new Date(at)
  const time = `${pad(date.getHours())}:${pad(date.getMinutes())}`
  return date.toDateString() === new Date().toDateString()
    ? time
    : `${pad(date.getDate())}/${pad(date.getMonth() + 1)} ${time}`
}

const pad = (value: number): string => String(value).padStart(2, '0')
