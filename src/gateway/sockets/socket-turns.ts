import { type AskedTools, addTools } from '../../core/cost/asked-tools.ts'
import { bytesPerToken, estimatedTokens } from '../../core/cost/estimated-tokens.ts'
import { promptBytes } from '../../core/cost/prompt-tokens.ts'
import { type Fault, fault } from '../../core/errors.ts'
import type { TokenUsage, UsageDetail } from '../../core/record.ts'
import { severalModels } from '../../core/turns-signal.ts'
import { readToolsOf } from '../../lanes/asked-tools.ts'
import type { SocketReader, TurnUsage } from '../../lanes/contract.ts'
import { usageDetail } from '../../lanes/usage.ts'
import { addUsage, addUsageDetail } from '../../lanes/usage-sum.ts'
import { admitKey, checkCall, checkSource } from '../../policy/admit.ts'
import type { Verdict } from '../../policy/effective.ts'
import { type AskedRates, askedRates, dearerRates } from '../../policy/limits/expected-use.ts'
import { refusedByLimit } from '../../policy/limits/limit-faults.ts'
import { believeTurn, chargeTurn } from '../answer/charge.ts'
import type { Call } from '../request/call.ts'
import { correctTurns, takeTurn } from '../request/take-limits.ts'
import { nameFallback } from '../upstream/fallback-models.ts'
import { extendHold } from '../upstream/hold-budgets.ts'
import { followLimits } from '../upstream/raise-budgets.ts'
import { bookTurns, type EarlierTurns, holdBeside, holdTurn } from './hold-turn.ts'
import type { OpenedProvider } from './open-provider.ts'

interface RunningTurn {
  input: number
  /** Output tokens held at its beginning. */
  output: number
  begun: boolean
  reported: boolean
  /** Models that may answer, the preferred one first. */
  models: readonly string[]
  rates: AskedRates | null
  tools: AskedTools | null
}

/**
 * The turns of a connection: each is admitted, holds while it runs, and is charged what it reports, or what its frames say if it reports
 * nothing or is cut.
 */
export class SocketTurns {
  readonly #call: Call
  readonly #reader: SocketReader
  #running: RunningTurn[] = []
  /** Admitted turns that the provider refused. If one begins after all, it does not count twice. */
  #refused = 0
  /** Tokens received for running turns that no report has counted yet. */
  #written = 0
  /** How many of them are sound. */
  #sounded = 0
  /** A turn that ended without a report, which may still come. */
  #unreported: { turn: TurnUsage; model: string | null } | null = null
  /** Client input for a turn that the provider will begin by itself. */
  #heard = 0
  #reports = false
  #tokens: TokenUsage | null = null
  #detail: UsageDetail | null = null

  constructor(call: Call, reader: SocketReader) {
    this.#call = call
    this.#reader = reader
  }

  /** The total of all turns so far. */
  tokens(): TokenUsage | null {
    return this.#tokens
  }

  detail(): UsageDetail | null {
    return this.#detail
  }

  busy(): boolean {
    return this.#running.length > 0 || this.#reader.busy()
  }

  /** Whether a turn was requested and has not begun. */
  get asked(): boolean {
    return this.#running.some(({ begun }) => !begun)
  }

  /** A client's frame, on its way up. */
  hear(frame: Buffer): void {
    this.#heard += this.#reader.inputOf?.(frame) ?? 0
  }

  /** The client asks for a turn by one of these models; none: the connection's own. Null: it may begin. */
  ask(provider: OpenedProvider, frame: Buffer, models: readonly string[]): Fault | null {
    // Only budgets ask for them.
    const tools = this.#call.arrival.limits === null ? null : readToolsOf(frame)
    return this.#admit(provider, promptBytes(frame), false, { models, rates: askedRates(frame), tools })
  }

  /** The frame that the reader has just read. `failed`: it reports an error. */
  follow(provider: OpenedProvider, failed: boolean): Fault | null {
    const { step, turn, written, sounded, beside } = this.#reader
    this.#written += written
    this.#sounded += sounded
    const refused = beside === null ? null : this.#takeBeside(provider, beside)
    if (beside !== null && turn === null) return refused
    if (turn !== null) this.#report(turn)
    if (step === 'ends') this.#end(failed, (turn?.tokens ?? null) !== null)
    else if (failed) this.#refuse()
    if (step === 'begins') return this.#begin(provider)
    return written === 0 ? null : extendHold(this.#call, this.#written)
  }

  /** The connection ends. `asked`: a turn that was sent but has not begun may be billed all the same. */
  cut(asked: boolean): void {
    // A provider that reports its turns does not count sound that it has not answered.
    const unheard = asked && !this.#reports ? this.#takeHeard() : 0
    const { length } = this.#running
    const turns = this.#running.splice(0).filter(({ begun }) => begun || asked)
    this.#chargeUnreported()
    if (unheard === 0 && (length === 0 || (turns.length === 0 && this.#written === 0))) return
    const input = turns.reduce((sum, turn) => sum + (turn.reported ? 0 : turn.input), unheard)
    if (input === 0 && this.#written === 0) return
    this.#charge(this.#estimate(input), turns[0]?.models[0] ?? null)
  }

  /** Admits a turn that the client did not ask for: the provider decides when to answer speech, so the turn is admitted when it begins. */
  #begin(provider: OpenedProvider): Fault | null {
    const next = this.#running.find(({ begun }) => !begun)
    if (next !== undefined) {
      next.begun = true
      return null
    }
    const hasCounted = this.#refused > 0
    if (hasCounted) this.#refused--
    return this.#admit(provider, hasCounted ? null : this.#takeHeard() * bytesPerToken, true)
  }

  #takeHeard(): number {
    const heard = this.#heard
    this.#heard = 0
    return heard
  }

  #admit(provider: OpenedProvider, bytes: number | null, begun: boolean, asked = unasked): Fault | null {
    this.#chargeUnreported()
    const models = asked.models.length === 0 ? [this.#call.trace.upstreamModel ?? ''] : asked.models
    // Turns that run at the same time are held at one price.
    const each = [...models, ...this.#running.flatMap((turn) => turn.models)]
    const rates = this.#running.reduce((dearest, turn) => dearerRates(dearest, turn.rates), asked.rates)
    const tools = this.#running.reduce((sum, turn) => addTools(sum, turn.tools), asked.tools ?? undefined) ?? null
    const running = this.#running.length > 0
    const earlier = { used: this.tokens(), running, models: [...new Set(each)], rates, tools }
    const held = admitTurn(this.#call, provider, earlier, bytes)
    if (typeof held !== 'number') return held
    const input = Math.ceil((bytes ?? 0) / bytesPerToken)
    this.#running.push({
      input,
      output: held,
      begun,
      reported: false,
      models,
      ...{ rates: asked.rates, tools: asked.tools },
    })
    return null
  }

  #report(turn: TurnUsage): void {
    const running = this.#running.find(({ begun }) => begun) ?? this.#running[0]
    this.#unreported = null
    this.#reports ||= turn.tokens !== null
    const estimate = estimatedTokens(running?.input ?? 0, this.#written)
    const believed = believeTurn(this.#call, turn, estimate)
    this.#charge(believed, running === undefined ? null : nameTurn(this.#call, running.models, turn.model))
    if (believed.tokens === null) return
    if (running !== undefined) running.reported = true
    this.#written = this.#running.length > 1 ? Math.max(0, this.#written - believed.tokens.output) : 0
    this.#sounded = Math.min(this.#sounded, this.#written)
  }

  /** A model beside the one that answers counts when it reports: before that nobody is asked. */
  #takeBeside({ provider }: OpenedProvider, usage: TurnUsage): Fault | null {
    this.#charge(believeTurn(this.#call, usage, estimatedTokens(0, 0)), usage.model ?? null)
    this.#correct()
    const refused = holdBeside(this.#call, this.#tokens, { id: provider.row.id })
    if (this.#running.length === 0 && this.#unreported === null)
      void bookTurns(this.#call, this.#tokens, () => this.busy())
    return refused
  }

  #end(failed: boolean, reported: boolean): void {
    const at = Math.max(
      0,
      this.#running.findIndex(({ begun }) => begun),
    )
    const [ended] = this.#running.splice(at, 1)
    if (ended !== undefined) this.#letGo(ended)
    const input = failed ? 0 : (ended?.input ?? 0)
    // A failed turn used only what was written before the error.
    if (!reported && ended?.reported !== true && input + this.#written > 0) {
      this.#unreported = { turn: this.#estimate(ended?.input ?? 0), model: ended?.models[0] ?? null }
      this.#written = 0
      this.#sounded = 0
    }
    if (this.#running.length > 0) this.#chargeUnreported()
    this.#correct()
    if (this.#running.length > 0 || this.#unreported !== null || this.#tokens === null) return
    void bookTurns(this.#call, this.#tokens, () => this.busy())
  }

  #refuse(): void {
    const at = this.#running.findIndex(({ begun }) => !begun)
    if (at < 0) return
    for (const turn of this.#running.splice(at, 1)) this.#letGo(turn)
    this.#refused++
  }

  /** The other running turns hold that much less. */
  #letGo({ input, output }: RunningTurn): void {
    const { openHold } = this.#call
    if (openHold === null) return
    openHold.input = Math.max(0, openHold.input - input)
    openHold.held = Math.max(0, openHold.held - output)
  }

  #chargeUnreported(): void {
    const ended = this.#unreported
    this.#unreported = null
    if (ended === null) return
    this.#charge(ended.turn, ended.model)
    this.#correct()
  }

  /** Of what was written until now. */
  #estimate(input: number): TurnUsage {
    return { tokens: estimatedTokens(input, this.#written), detail: usageDetail({ audio_output: this.#sounded }) }
  }

  #charge(turn: TurnUsage, model: string | null): void {
    this.#tokens = addUsage(this.#tokens, turn.tokens)
    this.#detail = addUsageDetail(this.#detail, turn.detail)
    chargeTurn(this.#call, turn, model)
    const { trace } = this.#call
    // The usage of another model than the record's cannot be repriced later.
    if ((model ?? trace.upstreamModel) !== trace.upstreamModel) trace.noteOnce(...severalModels)
  }

  /** The input of a requested turn counts from the beginning. */
  #correct(): void {
    const input = this.#running.reduce((sum, turn) => sum + turn.input, 0)
    correctTurns(this.#call.arrival, addUsage(this.#tokens, input === 0 ? null : estimatedTokens(input, 0)))
  }
}

/** A turn that the provider begins by itself. */
const unasked: Pick<RunningTurn, 'models' | 'rates' | 'tools'> = { models: [], rates: null, tools: null }

/** The model that the answer names, if it may have answered; else the requested one. */
function nameTurn({ trace }: Call, models: readonly string[], answered: string | undefined): string | null {
  const [asked = ''] = models
  return (answered === undefined ? null : nameFallback(trace, asked, answered, models)) ?? asked
}

/**
 * Admits a turn of a connection like a request: hours, limits and budgets of the key as they are now. `bytes`: of the frame that asks for
 * it; null: it was counted before. Returns the output tokens that are held for it.
 */
function admitTurn(
  call: Call,
  { provider }: OpenedProvider,
  earlier: EarlierTurns,
  bytes: number | null,
): Fault | number {
  const refused = checkAgain(call) ?? followLimitsNow(call) ?? (bytes === null ? null : takeTurn(call.arrival, bytes))
  return refused ?? holdTurn(call, earlier, bytes ?? 0, { id: provider.row.id })
}

/** What may have changed since the connection was opened: key, address and hours, lane and model. */
function checkAgain(call: Call): Fault | null {
  const { gateway, policy, arrival, lane, inspection } = call
  const { bodyLimit } = gateway.settings
  const invalid = checkKey(call)
  if (invalid !== null) return invalid
  const { timeZone } = gateway.model.configuration
  const facts = { address: arrival.clientAddress, now: Date.now(), timeZone }
  const denied = policy.source === null ? null : noteDenied(call, checkSource(policy.source, facts))
  return (
    denied ?? noteDenied(call, checkCall({ lane: lane.name, model: inspection.model, bytes: 0, bodyLimit }, policy))
  )
}

/** Limits and budgets that were added or changed since hold from this turn on. A fault: there are new ones, with no room for it. */
function followLimitsNow(call: Call): Fault | null {
  const { arrival, gateway, inspection } = call
  const { limits } = call.policy
  if (arrival.limits === null && limits !== null) {
    // The turn itself is counted like any other.
    const taken = gateway.limits.admit(limits, inspection.endUser, { requests: 0, tokens: 0 })
    if (!('taken' in taken)) {
      if (taken.want !== null) void gateway.limits.askOthers(taken.want, 0)
      const { fault, signal } = refusedByLimit(taken)
      return noteDenied(call, { fault, signals: [signal] })
    }
    arrival.limits = { hold: taken, figures: gateway.limits.figures(taken) }
  }
  const hold = arrival.limits?.hold ?? null
  if (hold === null) return null
  followLimits(hold, limits)
  const counters = new Set(limits?.map(({ counter }) => counter))
  // A budget that no longer applies still counts what it holds.
  const left = hold.budgets.map(({ limit }) => limit).filter(({ counter }) => !counters.has(counter))
  hold.limits = [...(limits ?? []), ...left]
  return null
}

function checkKey(call: Call): Fault | null {
  const { model } = call.gateway
  const { id, hash } = call.key
  // A client secret holds however often the key that made it was rotated.
  const key = call.clientSecret === null ? model.findKey(hash) : model.findKeyById(id)
  if (key === undefined || key === null)
    return fault('invalid_key', 'This gateway key was removed while the connection was open.')
  return noteDenied(call, admitKey(key, { project: null, environment: null, now: Date.now() }))
}

/** Only denials are recorded: everything that passed is already on the record of the handshake. */
function noteDenied({ trace }: Call, { fault, signals }: Verdict): Fault | null {
  const denied = signals.filter(({ verdict }) => verdict === 'deny')
  for (const signal of denied)
    if (!trace.policySignals.some(({ text }) => text === signal.text)) trace.policySignals.push(signal)
  return fault
}
