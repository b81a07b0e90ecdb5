import type { Fault } from '../../core/errors.ts'
import { bytesPerToken, estimatedTokens } from '../../core/estimated-tokens.ts'
import { promptBytes } from '../../core/prompt-tokens.ts'
import type { TokenUsage, UsageDetail } from '../../core/record.ts'
import { severalModels } from '../../core/turns-signal.ts'
import type { SocketReader, TurnUsage } from '../../lanes/contract.ts'
import { addUsage, addUsageDetail } from '../../lanes/usage-sum.ts'
import { asksPriority } from '../../policy/limits/expected-use.ts'
import { believeTurn, chargeTurn } from '../answer/charge.ts'
import type { Call } from '../request/call.ts'
import { correctTurns } from '../request/take-limits.ts'
import { nameFallback } from '../upstream/fallback-models.ts'
import { extendHold } from '../upstream/hold-budgets.ts'
import { admitTurn } from './admit-turn.ts'
import { bookTurns, holdBeside } from './hold-turn.ts'
import type { OpenedProvider } from './open-provider.ts'

interface RunningTurn {
  input: number
  /** Tokens that were held for it at first. */
  output: number
  begun: boolean
  reported: boolean
  /** That may answer, the one that is asked first. */
  models: readonly string[]
  priority: boolean
}

/**
 * The turns of a connection: admitted one by one, held while they run, and charged what they report, or what their frames say where
 * they report nothing or are cut.
 */
export class SocketTurns {
  readonly #call: Call
  readonly #reader: SocketReader
  #running: RunningTurn[] = []
  /** Admitted, but refused by the provider; should they begin all the same, they count no second time. */
  #refused = 0
  /** Tokens that have come of all that run, and that no report has counted. */
  #written = 0
  /** Of a turn that has ended without a report, which may still come. */
  #unreported: { tokens: TokenUsage; model: string | null } | null = null
  /** What the client has sent for a turn that the provider begins by itself. */
  #heard = 0
  #reports = false
  #tokens: TokenUsage | null = null
  #detail: UsageDetail | null = null

  constructor(call: Call, reader: SocketReader) {
    this.#call = call
    this.#reader = reader
  }

  /** What all came to until now. */
  tokens(): TokenUsage | null {
    return this.#tokens
  }

  detail(): UsageDetail | null {
    return this.#detail
  }

  busy(): boolean {
    return this.#running.length > 0 || this.#reader.busy()
  }

  /** Whether one was asked for and has not begun. */
  get asked(): boolean {
    return this.#running.some(({ begun }) => !begun)
  }

  /** A frame of the client, on its way up. */
  hear(frame: Buffer): void {
    this.#heard += this.#reader.inputOf?.(frame) ?? 0
  }

  /** The client asks for one of one of these models; none: the connection's own. Null: it may begin. */
  ask(provider: OpenedProvider, frame: Buffer, models: readonly string[]): Fault | null {
    return this.#admit(provider, promptBytes(frame), false, { models, priority: asksPriority(frame) })
  }

  /** The frame that the reader has read last. `failed`: it tells of an error. */
  follow(provider: OpenedProvider, failed: boolean): Fault | null {
    const { step, turn, written, beside } = this.#reader
    this.#written += written
    if (beside !== null) return this.#takeBeside(provider, beside)
    if (turn !== null) this.#report(turn)
    if (step === 'ends') this.#end(failed, (turn?.tokens ?? null) !== null)
    else if (failed) this.#refuse()
    if (step === 'begins') return this.#begin(provider)
    return written === 0 ? null : extendHold(this.#call, this.#written)
  }

  /** Nothing more comes. `asked`: what was sent and has not begun may be billed all the same. */
  cut(asked: boolean): void {
    // A provider that reports its turns counts no sound to which it has not answered.
    const unheard = asked && !this.#reports ? this.#takeHeard() : 0
    const { length } = this.#running
    const turns = this.#running.splice(0).filter(({ begun }) => begun || asked)
    this.#chargeUnreported()
    if (unheard === 0 && (length === 0 || (turns.length === 0 && this.#written === 0))) return
    const input = turns.reduce((sum, turn) => sum + (turn.reported ? 0 : turn.input), unheard)
    if (input === 0 && this.#written === 0) return
    this.#charge({ tokens: estimatedTokens(input, this.#written), detail: null }, turns[0]?.models[0] ?? null)
  }

  /** One that the client has not asked for, since the provider hears when it is its turn, is admitted when it begins. */
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
    // What is held for those that run beside it has one price with it.
    const each = [...models, ...this.#running.flatMap((turn) => turn.models)]
    const priority = asked.priority || this.#running.some((turn) => turn.priority)
    const earlier = { used: this.tokens(), running: this.#running.length > 0, models: [...new Set(each)], priority }
    const held = admitTurn(this.#call, provider, earlier, bytes)
    if (typeof held !== 'number') return held
    const input = Math.ceil((bytes ?? 0) / bytesPerToken)
    this.#running.push({ input, output: held, begun, reported: false, models, priority: asked.priority })
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
    // An error has used nothing but what was written before it.
    if (!reported && ended?.reported !== true && input + this.#written > 0) {
      const tokens = estimatedTokens(ended?.input ?? 0, this.#written)
      this.#unreported = { tokens, model: ended?.models[0] ?? null }
      this.#written = 0
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

  /** Those that run beside it hold so much less. */
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
    this.#charge({ tokens: ended.tokens, detail: null }, ended.model)
    this.#correct()
  }

  #charge(turn: TurnUsage, model: string | null): void {
    this.#tokens = addUsage(this.#tokens, turn.tokens)
    this.#detail = addUsageDetail(this.#detail, turn.detail)
    chargeTurn(this.#call, turn, model)
    const { trace } = this.#call
    // What another model than the record's has used cannot be priced again.
    if ((model ?? trace.upstreamModel) !== trace.upstreamModel) trace.noteOnce(...severalModels)
  }

  /** Of what is asked the input counts already. */
  #correct(): void {
    const input = this.#running.reduce((sum, turn) => sum + turn.input, 0)
    correctTurns(this.#call.arrival, addUsage(this.#tokens, input === 0 ? null : estimatedTokens(input, 0)))
  }
}

/** A turn that the provider begins by itself. */
const unasked: Pick<RunningTurn, 'models' | 'priority'> = { models: [], priority: false }

/** Of the models that may have answered, the one that says it has; else the one that was asked. */
function nameTurn({ trace }: Call, models: readonly string[], answered: string | undefined): string | null {
  const [asked = ''] = models
  return (answered === undefined ? null : nameFallback(trace, asked, answered, models)) ?? asked
}
