import { promptBytes } from '../../core/cost/prompt-tokens.ts'
import { applyEdits } from '../../lanes/patch-body.ts'
import type { Codec } from '../../translate/codec.ts'
import type { Conversation } from '../../translate/conversation.ts'
import type { PausedBlocks, Pausing } from '../../translate/pausing.ts'
import { chargePart } from '../answer/charge.ts'
import type { Call } from '../request/call.ts'
import type { EarlierParts } from '../request/trace.ts'
import { raiseForRest } from '../upstream/hold-budgets.ts'
import type { Leg, Passing } from '../upstream/leg.ts'

/** How often a provider is asked to continue: one that pauses again after that would never finish. */
const mostParts = 5

interface AskedAnswer {
  call: Call
  upstream: Codec
  conversation: Conversation
  /** The request as written for the provider. */
  body: Buffer
}

/**
 * An answer that its provider may pause because its own tools take long. A client of another format could not ask for the rest, so the
 * gateway does, and the client gets one answer.
 */
export class PausedAnswer {
  readonly #asked: AskedAnswer
  readonly #pausing: Pausing
  /** Blocks of all parts so far. */
  #blocks: readonly string[] = []

  private constructor(asked: AskedAnswer, pausing: Pausing) {
    this.#asked = asked
    this.#pausing = pausing
  }

  /** Null: nothing in the request lets the provider pause. */
  static openFor(asked: AskedAnswer): PausedAnswer | null {
    const { pausing } = asked.upstream
    const hasTools = asked.conversation.tools.some(({ kind }) => kind === 'search')
    return pausing === undefined || !hasTools ? null : new PausedAnswer(asked, pausing)
  }

  openBlocks(): PausedBlocks {
    return this.#pausing.openBlocks()
  }

  read(body: Buffer): readonly string[] | null {
    return this.#pausing.readWhole(body)
  }

  /** Puts the earlier parts in front of the last part of a whole answer. */
  join(gated: Passing): Passing {
    if (gated.kind !== 'whole' || this.#blocks.length === 0) return gated
    return { ...gated, body: applyEdits(gated.body, this.#pausing.editAnswer(gated.body, this.#blocks)) }
  }

  /** The request for the rest; null: it may not be sent, as the record says. */
  async askForRest(leg: Leg, blocks: readonly string[]): Promise<{ body: Buffer; earlier: EarlierParts } | null> {
    const earlier = chargePart(leg)
    if (earlier.count > mostParts) return this.#end(leg, `it had been asked ${mostParts} times`)
    const { call, body: asked } = this.#asked
    const written = [...this.#blocks, ...blocks]
    const edits = this.#pausing.editRequest(asked, written, earlier.tokens?.output ?? 0)
    if (edits === null) return this.#end(leg, 'its output limit leaves nothing to write')
    const body = applyEdits(asked, edits)
    const { memoryBudget } = call.gateway
    if (!memoryBudget.reserve(call.body, Math.max(call.body.reserved, call.body.bytes.length) + body.length))
      return this.#end(leg, 'there is no memory for it')
    const output = call.inspection.outputLimit ?? Number.POSITIVE_INFINITY
    const rest = { bytes: promptBytes(body), output: Math.max(0, output - (earlier.tokens?.output ?? 0)) }
    if (!(await raiseForRest(call, leg.candidate, earlier, rest)))
      return this.#end(leg, 'the budgets have no room for more')
    this.#blocks = written
    const { name } = leg.provider.row
    const text = `${name} paused in the middle of its answer to use its own tools, and was asked for the rest (${earlier.count} of at most ${mostParts}).`
    call.trace.routingSignals.push({
      rule: 'pause',
      verdict: 'note',
      text,
      data: { provider: name, part: earlier.count },
    })
    return { body, earlier }
  }

  #end({ provider: { row }, call: { trace } }: Leg, why: string): null {
    const text = `${row.name} paused in the middle of its answer, which ends there as one that is too long: ${why}.`
    trace.routingSignals.push({ rule: 'pause', verdict: 'skipped', text, data: { provider: row.name } })
    return null
  }
}
