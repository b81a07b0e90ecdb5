import { replaceData } from '../../core/bytes/sse.ts'
import type { StreamEvent } from '../../core/bytes/stream-event.ts'
import { type Fault, fault } from '../../core/errors.ts'
import type { Signal } from '../../core/record.ts'
import type { AnswerStage } from '../answer/stage.ts'
import type { Leg } from '../upstream/leg.ts'
import { laneUrls } from './lane-urls.ts'

/** Rewrites URLs in an answer that a client would follow with its key, so that they lead to the gateway. */
export class UrlStage implements AnswerStage {
  readonly faultIfUnread: Fault | null
  readonly #leg: Leg

  constructor(leg: Leg) {
    this.#leg = leg
    // A client would follow them with its key.
    this.faultIfUnread = leg.match.endpoint.responseForm === 'json' && leg.call.createsObjects ? unreadable : null
  }

  /** An event too large to be held passes unchanged: its beginning is sent before its end arrives. */
  event(event: StreamEvent, pass: Buffer | null): Buffer | null {
    if (pass !== event.bytes || event.data.length === 0) return pass
    if (event.part !== 'whole' && event.part !== 'cut') {
      if (this.#leg.match.endpoint.object !== null) this.#note(eventUnread)
      return pass
    }
    const data = this.whole(event.data)
    return data === event.data ? pass : replaceData(event, data)
  }

  end(): null {
    return null
  }

  whole(body: Buffer): Buffer {
    const { call, provider } = this.#leg
    const rewritten = call.lane.objects.rewriteAnswerUrls(body, laneUrls(call, provider))
    if (rewritten !== body) this.#note(urlsRewritten)
    return rewritten
  }

  #note(signal: Signal): void {
    const { routingSignals } = this.#leg.call.trace
    if (!routingSignals.includes(signal)) routingSignals.push(signal)
  }
}

const urlsRewritten: Signal = Object.freeze({
  rule: 'patch',
  verdict: 'note',
  text: 'URLs of the provider in the answer were replaced by ones that lead back here.',
})
const eventUnread: Signal = Object.freeze({
  rule: 'answer_not_read',
  verdict: 'note',
  text: 'An event of the stream was too large to be read: URLs in it lead where the provider says.',
})
const unreadable = fault(
  'provider_bad_response',
  "The provider's answer may lead past the gateway and could not be read: it is too large, holds too many values, or came compressed. Ask for less of it.",
)
