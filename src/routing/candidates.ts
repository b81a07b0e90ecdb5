import type { FormatName } from '../core/format.ts'
import type { LaneName } from '../core/lane.ts'
import { captureStar, fillStar, type Pattern } from '../core/pattern.ts'
import type { Signal } from '../core/record.ts'
import { flatText } from '../core/text/flat-text.ts'
import type { SnapshotProvider, SnapshotTarget } from '../store/configuration/snapshot.ts'
import type { CompiledTarget } from './compile.ts'
import { describeCause } from './failure-cause.ts'
import type { HealthTarget, HealthView } from './health.ts'

export interface Candidate {
  provider: SnapshotProvider
  /** '' for a call that names no model. */
  upstreamModel: string
  target: SnapshotTarget
  /** Whose health counts for it. */
  watched: HealthTarget
  /** Only where nothing else can serve: its credentials met a limit of the model. */
  lastResort: boolean
  /** null: the request is sent in its own format, as it came. */
  translated: Translation | null
  /** In words, for operators. */
  reason: string
  /** The only credential that may be used, because it owns the object that the call names. Absent: any of the pool. */
  credentialId?: string
  /** Place of the credential that is tried first, because the conversation has been there. */
  preferredCredential?: number
  /** The names to ask for where the call names additional models, in their order. */
  additionalUpstreamModels?: readonly string[]
}

/** A model that a call names besides its own. `mayAnswer`: the provider may answer with it instead. */
export interface AdditionalModel {
  name: string
  mayAnswer?: true
}

/** Of a target's names for the models that a call names besides its own, those that may answer. Undefined: it is sent none, as nearly always. */
export function fallbacksOf(
  additional: readonly AdditionalModel[] | undefined,
  names: readonly string[] | undefined,
): readonly string[] | undefined {
  return names?.filter((_, place) => additional?.[place]?.mayAnswer === true)
}

export interface Translation {
  /** Of a call for vectors: the usual format of its lane. */
  from: FormatName
  to: FormatName
  embeds?: true
}

/**
 * `account`: what the provider's account may be used for is used up. `time`: others took all that the call had. Both are found when
 * its turn comes, and never by a plan.
 */
export type SkipCode =
  | 'missing'
  | 'limited'
  | 'weight'
  | 'format'
  | 'account'
  | 'time'
  | 'inactive'
  | 'failing'
  | 'cooling-down'
  | 'open'
  | 'probing'

export interface Skipped {
  /** Its name; its id when the snapshot has no such provider. */
  provider: string
  upstreamModel: string
  reason: string
  code: SkipCode
  /** When it may take requests again, in epoch milliseconds, where that is known. */
  until: number | null
  /** Its account is out of quota. */
  exhausted?: true
  /** The lanes that it serves, where they are known. */
  lanes: readonly LaneName[]
}

/** What of a provider's kind decides whether it can take a call. */
export interface KindFacts {
  /** The lanes whose calls it takes as they are. */
  lanes: readonly LaneName[]
  /** In order of preference, those in which it can be asked for a model; absent: calls are never translated for it. */
  formats?: readonly FormatName[] | ((settings: SnapshotProvider['settings'], model: string) => readonly FormatName[])
  /** Which of them is best for a model; null: the first. */
  preferredFormat?(settings: SnapshotProvider['settings'], model: string): FormatName | null
  /** The only operations that it has; absent: all of its lanes. */
  serves?: readonly string[]
  isUnsupported?(settings: SnapshotProvider['settings'], operation: string): boolean
}

/** By name. A provider of an unknown kind takes nothing. */
export type Kinds = ReadonlyMap<string, KindFacts>

/** Whether providers of such a kind, with such settings, have the operation. */
export function servesOperation(
  kind: KindFacts | undefined,
  { settings }: SnapshotProvider,
  operation: string,
): boolean {
  return (kind?.serves?.includes(operation) ?? true) && kind?.isUnsupported?.(settings, operation) !== true
}

const noLanes: readonly LaneName[] = []

/** The part of a query that decides whether a target can take it. */
export interface TargetQuery {
  lane: LaneName
  projectId: string
  /** As in `KeyScope`. */
  onlyDemo?: true | undefined
  kinds: Kinds
  /** The endpoint's operation; null: any call of the lane. */
  operation: string | null
  /** Of a call that can be translated; null or absent: it is sent as it came, or not at all. */
  format?: FormatName | null
  /** It asks how many tokens a request has, which no chat can say. */
  counts?: boolean
  /** It asks for vectors. */
  embeds?: boolean
  /** Epoch milliseconds. */
  now: number
  /** `Health.view` with the size of the provider's pool. */
  health(slot: number, credentials: number, target: HealthTarget): HealthView
}

export type Evaluation = { taken: Candidate } | { skipped: Skipped }

/** Whether one target can take the call, and why. */
export function evaluateTarget(
  query: TargetQuery,
  { target, provider, watched }: CompiledTarget,
  upstreamModel: string,
): Evaluation {
  if (provider === null) {
    const reason = 'no such provider'
    return {
      skipped: { provider: target.providerId, upstreamModel, reason, code: 'missing', until: null, lanes: [] },
    }
  }
  const kind = query.kinds.get(provider.kind)
  const lanes = kind?.lanes ?? noLanes
  const translated = findTranslation(query, kind, { target, provider, upstreamModel })
  const operation = translated === null ? query.operation : operationOf(translated)
  const serves = operation === null || servesOperation(kind, provider, operation)
  const own = watchedAs(watched, provider.slot, upstreamModel)
  const inLane = translated !== null || lanes.includes(query.lane)
  const found = findObstacle(query, provider, { lanes, inLane, serves, watched: own })
  if ('code' in found) return { skipped: { provider: provider.name, upstreamModel, lanes, ...found } }
  const reason = translated === null ? found.ready : flatText(found.ready, ', ', describeTranslation(translated))
  const lastResort = found.lastResort === true
  return { taken: { provider, upstreamModel, target, watched: own, lastResort, translated, reason } }
}

/**
 * `translated from chat to messages`, `translated from embeddings to embed`. Plain ASCII, as all that stands in every record: one other
 * character makes V8 write, search and read the whole record at two bytes a character, at three times the cost.
 */
export function describeTranslation({ from, to, embeds }: Translation): string {
  return embeds === true
    ? `translated from ${vectorCalls[from]} to ${vectorCalls[to]}`
    : `translated from ${from} to ${to}`
}

/** The operations that ask for vectors, by the usual format of their lane. */
const vectorCalls: Readonly<Partial<Record<FormatName, string>>> = { chat: 'embeddings', generate: 'embed' }

/** Whether the operation asks for vectors. */
export function isVectorCall(operation: string): boolean {
  return Object.values(vectorCalls).includes(operation)
}

/** The operation that asks a model in a format has the format's name. */
function operationOf({ to, embeds }: Translation): string {
  return (embeds === true && vectorCalls[to]) || to
}

/** Only OpenAI and Gemini have a call for vectors. */
function findVectorCall({ lane }: TargetQuery, { lanes }: KindFacts): Translation | null {
  if (lanes.includes(lane)) return null
  if (lane === 'openai' && lanes.includes('gemini')) return { from: 'chat', to: 'generate', embeds: true }
  return lane === 'gemini' && lanes.includes('openai') ? { from: 'generate', to: 'chat', embeds: true } : null
}

/** Its own format is never translated. */
function findTranslation(
  query: TargetQuery,
  kind: KindFacts | undefined,
  { target, provider, upstreamModel }: { target: SnapshotTarget; provider: SnapshotProvider; upstreamModel: string },
): Translation | null {
  const { format = null, counts = false, embeds = false } = query
  if (embeds) return kind === undefined ? null : findVectorCall(query, kind)
  const given = kind?.formats
  if (format === null || given === undefined) return null
  const wanted = target.format ?? null
  if (wanted !== null) return wanted === format ? null : { from: format, to: wanted }
  const formats = typeof given === 'function' ? given(provider.settings, upstreamModel) : given
  if (formats.includes(format)) return null
  const to = counts
    ? (formats.find((each) => each !== 'chat') ?? formats[0])
    : bestOf(formats, kind, { settings: provider.settings, model: upstreamModel })
  return to === undefined ? null : { from: format, to }
}

/** In which a model is asked where the client's own format is none of them. */
export function bestOf(
  formats: readonly FormatName[],
  kind: Pick<KindFacts, 'preferredFormat'> | undefined,
  { settings, model }: { settings: SnapshotProvider['settings']; model: string },
): FormatName | undefined {
  const preferred = kind?.preferredFormat?.(settings, model) ?? null
  return preferred !== null && formats.includes(preferred) ? preferred : formats[0]
}

/** Made once a snapshot where the name is always the same. */
function watchedAs(watched: HealthTarget | null, slot: number, model: string): HealthTarget {
  if (watched === null) return { slot, model, pattern: model === '' ? null : '' }
  return watched.model === model ? watched : { slot, model, pattern: watched.pattern }
}

/** A target that the route keeps, and gives nothing. */
export function skipUnweighted({ target, provider }: CompiledTarget, upstreamModel: string): Skipped {
  const name = provider?.name ?? target.providerId
  return { provider: name, upstreamModel, reason: 'its weight is 0', code: 'weight', until: null, lanes: [] }
}

/** Whether the provider is there for the key at all. */
export function mayUse(
  { projectId, onlyDemo }: Pick<TargetQuery, 'projectId' | 'onlyDemo'>,
  { projects, kind }: Pick<SnapshotProvider, 'projects' | 'kind'>,
): boolean {
  if (onlyDemo === true && kind !== 'demo') return false
  return projects === null || projects.includes(projectId)
}

type Obstacle = Pick<Skipped, 'code' | 'reason' | 'until' | 'exhausted'>
type Free = { ready: string; lastResort?: true }

/** Permanent obstacles come before those that may pass within minutes. */
function findObstacle(
  query: TargetQuery,
  provider: SnapshotProvider,
  {
    lanes,
    inLane,
    serves,
    watched,
  }: { lanes: readonly LaneName[]; inLane: boolean; serves: boolean; watched: HealthTarget },
): Obstacle | Free {
  if (!mayUse(query, provider)) {
    const reason = query.onlyDemo === true ? 'not for the demo key' : 'limited to other projects'
    return { code: 'limited', reason, until: null }
  }
  if (!inLane) {
    const format = lanes.length === 0 ? 'no format of a lane' : lanes.join(' and ')
    return { code: 'format', reason: `speaks ${format}, the lane needs ${query.lane}`, until: null }
  }
  if (!serves) {
    return { code: 'format', reason: `${describeVendor(provider)} has no such call (${query.operation})`, until: null }
  }
  if (!provider.active) return { code: 'inactive', reason: 'not active', until: null }
  const { state, since, reason, code } = provider.readiness
  if (state === 'failing') {
    const from = since === null ? null : Date.parse(since)
    const why = describeFailing(from, reason ?? 'the last check failed', query.now)
    return { code: 'failing', reason: why, until: null, ...outOfQuota(code === 'quota_exhausted') }
  }
  return describeHealth(query.health(provider.slot, provider.credentials.length, watched), state, query.now)
}

/** What decides which calls it has. */
function describeVendor({ kind, settings }: SnapshotProvider): string {
  return typeof settings.preset === 'string' ? settings.preset : kind
}

function describeHealth(view: HealthView, state: 'ready' | 'unchecked', now: number): Obstacle | Free {
  switch (view.state) {
    case 'ready':
      return { ready: state === 'ready' ? 'ready' : 'not checked yet, counts as ready' }
    case 'doubtful':
      return { ready: `ready for this key, though its last ${view.trouble.inARow} calls of another failed` }
    case 'limited':
      return { ready: `rate limited for another ${seconds(view.until - now)}: the last resort`, lastResort: true }
    case 'half-open':
      return { ready: 'recovering: one trial request allowed' }
    case 'probing':
      return { code: 'probing', reason: 'recovering: another request is trying it', until: view.until }
    case 'open':
      return {
        code: 'open',
        reason: `${view.caller ? 'paused for this key' : 'paused'} for ${seconds(view.until - now)} after repeated failures${why(view)}`,
        until: view.until,
      }
    case 'cooling-down': {
      const cause = view.exhausted ? ": the provider's account is out of quota" : ''
      const reason = `every credential is cooling down for another ${seconds(view.until - now)}${cause}`
      return { code: 'cooling-down', reason, until: view.until, ...outOfQuota(view.exhausted) }
    }
  }
}

const outOfQuota = (exhausted: boolean) => (exhausted ? { exhausted } : {})

function why({ trouble }: Extract<HealthView, { state: 'open' }>): string {
  return trouble === undefined ? '' : `: it ${describeCause(trouble.cause)}`
}

function describeFailing(since: number | null, reason: string, now: number): string {
  const words = reason.replaceAll('_', ' ')
  return since === null || Number.isNaN(since) ? `failing: ${words}` : `failing since ${clock(since, now)}: ${words}`
}

/** `14:02 UTC`, with the day when it is not today. */
function clock(time: number, now: number): string {
  const text = new Date(time).toISOString()
  const minute = `${text.slice(11, 16)} UTC`
  return text.slice(0, 10) === new Date(now).toISOString().slice(0, 10) ? minute : `${text.slice(0, 10)} ${minute}`
}

function seconds(ms: number): string {
  return `${Math.max(1, Math.ceil(ms / 1000))} s`
}

/** Whether it matters which of them is taken, and with which credential. */
export function offersChoice(candidates: readonly Candidate[]): boolean {
  return candidates.length > 1 || (candidates[0]?.provider.credentials.length ?? 0) > 1
}

/** The name to ask the provider for. A star in it takes what the route's star took. */
export function upstreamName(route: Pattern, upstream: Pattern | null, model: string): string {
  if (upstream === null) return model
  return upstream.parts.length === 1 ? upstream.text : fillStar(upstream, captureStar(route, model))
}

export function takenSignal({ provider, upstreamModel, reason }: Candidate): Signal {
  return targetSignal('taken', provider.name, upstreamModel, reason)
}

/** `code` tells a target that fails from one that cannot take the call at all. */
export function skippedSignal({
  provider,
  upstreamModel,
  reason,
  code,
}: Pick<Skipped, 'provider' | 'upstreamModel' | 'reason' | 'code'>): Signal {
  // What a client would be told is a sentence already.
  const signal = targetSignal('skipped', provider, upstreamModel, reason.replace(/\.$/, ''))
  return { ...signal, data: { ...signal.data, code } }
}

function targetSignal(verdict: 'taken' | 'skipped', provider: string, upstreamModel: string, reason: string): Signal {
  if (upstreamModel === '') {
    const data = { provider, upstream_model: null }
    return { rule: 'target', verdict, text: flatText(provider, ': ', reason, '.'), data }
  }
  const text = flatText(provider, ' (', upstreamModel, '): ', reason, '.')
  return { rule: 'target', verdict, text, data: { provider, upstream_model: upstreamModel } }
}
