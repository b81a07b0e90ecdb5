import { newId } from '../../src/core/ids.ts'
import { lanePath } from '../../src/core/lane-call.ts'
import type { AttemptRecord, RequestRecord, Signal } from '../../src/core/record.ts'
import { blankRecord } from '../../src/store/records/blank-record.ts'
import type { Random } from './random.ts'
import { type Application, applications, type Model, models } from './traffic.ts'

/** Whose key a record names; the data directory's own where it has one of that name. */
export type KeyIds = ReadonlyMap<string, string>

interface Story {
  application: Application
  model: Model
  streamed: boolean
  attempts: AttemptRecord[]
  error: RequestRecord['error']
  status: number
  durationMs: number
}

/** A settled request at that moment (milliseconds since the epoch), as the gateway would have recorded it. */
export function inventRecord(random: Random, time: number, troubled: boolean, keyIds: KeyIds): RequestRecord {
  const story = inventStory(random, troubled)
  const { application, model, attempts, error, status, durationMs } = story
  const last = attempts.at(-1)
  const answered = last?.outcome === 'answered'
  const tokens = answered ? inventTokens(random, model) : null
  return {
    ...blankRecord(),
    id: newId('req', time),
    state: error === null && random.chance(0.0003) ? 'interrupted' : 'settled',
    time: new Date(time).toISOString(),
    lane: model.lane,
    operation: model.operation,
    method: 'POST',
    path: lanePath(model.lane, model.name, story.streamed).replace(/\?.*/, ''),
    project: 'default',
    environment: 'production',
    key: { id: keyIds.get(application.key) ?? '', name: application.key },
    model: model.name,
    route: attempts.length === 0 ? null : model.route,
    provider: last?.provider ?? null,
    upstream_model: last?.upstream_model ?? null,
    status,
    error,
    streamed: story.streamed,
    tokens,
    cost: costOf(model, tokens),
    duration_ms: durationMs,
    first_byte_ms: answered ? last.first_byte_ms : null,
    attempts,
    timeline: timelineOf(story),
    policy_signals: [{ rule: 'key', verdict: 'pass', text: 'The key is valid.' }],
    routing_signals: routingSignals(story),
    provider_request_id: last === undefined ? null : `req_${Math.floor(random.next() * 1e12).toString(36)}`,
    request_bytes: Math.round((tokens?.input ?? 300) * 4.2) + 180,
    response_bytes: Math.round((tokens?.output ?? 20) * (story.streamed ? 180 : 5)) + 420,
    client: { address: application.address, user_agent: application.userAgent },
    tags: random.chance(0.8) ? { team: application.team } : {},
  }
}

function inventStory(random: Random, troubled: boolean): Story {
  const application = random.pickWeighted(applications)
  const name = random.pick(application.models)
  const model = models.find((each) => each.name === name) ?? random.pick(models)
  const streamed = random.chance(model.streamedShare)
  const base = { application, model, streamed }
  if (random.chance(0.004)) return refusal(base, random)
  const attempts: AttemptRecord[] = []
  const fails = random.chance(troubled && model.provider === 'openai' ? 0.45 : 0.006)
  if (fails) attempts.push(failedAttempt(random, model))
  if (fails && model.fallback === null) return brokenOff(base, attempts)
  const target = fails && model.fallback !== null ? model.fallback : model
  attempts.push(answeredAttempt(random, model, target, attempts.at(-1)?.ended_ms ?? 1.2))
  const durationMs = round((attempts.at(-1)?.ended_ms ?? 0) + 0.4)
  if (random.chance(0.003)) {
    const error = {
      code: 'client_closed',
      origin: 'client',
      message: 'The client hung up before the answer ended.',
    } as const
    return { ...base, attempts, error, status: 499, durationMs }
  }
  return { ...base, attempts, error: null, status: 200, durationMs }
}

type Base = Pick<Story, 'application' | 'model' | 'streamed'>

function refusal(base: Base, random: Random): Story {
  const error = random.pick([
    { code: 'model_not_found', origin: 'client', message: 'No route serves this model in default/production.' },
    { code: 'invalid_request', origin: 'client', message: 'The body is no JSON: unexpected end at byte 212.' },
    {
      code: 'policy_denied',
      origin: 'policy',
      message: `The policy small-models does not allow "${base.model.name}".`,
    },
  ] as const)
  const status = { model_not_found: 404, invalid_request: 400, policy_denied: 403 }[error.code]
  return { ...base, attempts: [], error, status, durationMs: round(random.around(1.4, 0.3)) }
}

function brokenOff(base: Base, attempts: AttemptRecord[]): Story {
  const status = attempts.at(-1)?.status ?? null
  const durationMs = round((attempts.at(-1)?.ended_ms ?? 0) + 0.4)
  const error =
    status === null
      ? ({
          code: 'provider_timeout',
          origin: 'network',
          message: 'The provider sent no first byte within 2 s.',
        } as const)
      : ({ code: 'provider_error', origin: 'provider', message: `The provider answered ${status}.` } as const)
  return { ...base, attempts, error, status: status ?? 504, durationMs }
}

function failedAttempt(random: Random, { provider, upstream, firstByteMs }: Model): AttemptRecord {
  const status = random.pick([429, 429, 500, 503, null])
  const ended = status === null ? 2001.2 : round(random.around(firstByteMs * 0.6))
  return {
    provider,
    upstream_model: upstream,
    status,
    outcome: status === null ? 'provider_timeout' : 'fallback',
    started_ms: 1.2,
    connected_ms: 1.6,
    first_byte_ms: status === null ? null : ended,
    ended_ms: ended,
    message: status === 429 ? 'answered 429 and asked to wait 20 s' : status === null ? 'no first byte' : null,
    cost: null,
  }
}

function answeredAttempt(
  random: Random,
  model: Model,
  { provider, upstream }: { provider: string; upstream: string },
  startedMs: number,
): AttemptRecord {
  const firstByte = startedMs + random.around(model.firstByteMs, 0.45)
  const tail = model.output === 0 ? 2 : (random.around(model.output, 0.6) / model.tokensPerSecond) * 1000
  return {
    provider,
    upstream_model: upstream,
    status: 200,
    outcome: 'answered',
    started_ms: round(startedMs),
    connected_ms: round(startedMs + 0.5),
    first_byte_ms: round(firstByte),
    ended_ms: round(firstByte + tail),
    message: null,
    cost: null,
  }
}

function inventTokens(random: Random, model: Model): NonNullable<RequestRecord['tokens']> {
  const input = Math.max(1, Math.round(random.around(model.input, 0.8)))
  const output = model.output === 0 ? 0 : Math.max(1, Math.round(random.around(model.output, 0.7)))
  const cached = model.lane === 'anthropic' && random.chance(0.6) ? Math.round(input * 0.7) : 0
  return { input, output, cache_read: cached, cache_write: 0, reasoning: 0, source: 'reported' }
}

function costOf({ price }: Model, tokens: RequestRecord['tokens']): RequestRecord['cost'] {
  if (price === null || tokens === null) return null
  const full = tokens.input - tokens.cache_read * 0.9
  const usd = (full * price.input + tokens.output * price.output) / 1e6
  return { usd: Math.round(usd * 1e9) / 1e9, price_version: '2026-11-01' }
}

function timelineOf({ attempts, durationMs }: Story): RequestRecord['timeline'] {
  const last = attempts.at(-1)
  const timeline: RequestRecord['timeline'] = [{ event: 'received', at_ms: 0 }]
  if (last !== undefined) timeline.push({ event: 'admitted', at_ms: 0.8 })
  for (const { started_ms, connected_ms } of attempts) {
    timeline.push({ event: 'attempt', at_ms: started_ms })
    if (connected_ms !== null) timeline.push({ event: 'connected', at_ms: connected_ms })
  }
  if (last?.outcome === 'answered' && last.first_byte_ms !== null && last.ended_ms !== null) {
    timeline.push({ event: 'first_byte', at_ms: last.first_byte_ms })
    timeline.push({ event: 'content', at_ms: round(last.first_byte_ms + 3) })
    timeline.push({ event: 'last_byte', at_ms: last.ended_ms })
  }
  timeline.push({ event: 'done', at_ms: durationMs })
  return timeline
}

function routingSignals({ attempts, model, error }: Story): Signal[] {
  if (attempts.length === 0 && error?.code === 'model_not_found')
    return [{ rule: 'route', verdict: 'deny', text: error.message }]
  if (attempts.length === 0) return []
  const signals: Signal[] = [
    { rule: 'route', verdict: 'taken', text: `Matched route ${model.route} in default/production.` },
    { rule: 'target', verdict: 'taken', text: `${model.provider} (${model.upstream}): ready.` },
  ]
  if (attempts.length > 1)
    signals.push({
      rule: 'fallback',
      verdict: 'note',
      text: `${model.provider}: ${attempts[0]?.status ?? 'no answer'}; fell back to the next target.`,
    })
  return signals
}

/** Times are kept to the microsecond. */
function round(milliseconds: number): number {
  return Math.round(milliseconds * 1000) / 1000
}
