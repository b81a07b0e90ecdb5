import type { OutboundRequest, ResponseSink, Sending, Transport, TransportFault } from './contract.ts'

/** The outcome of preparing a call. */
export type Prepared =
  /** `transport`: in place of the one that was given. */
  | { request: OutboundRequest; sink: ResponseSink; transport?: Transport }
  /** Answered in place of the provider, as it would (a credential for which no token is issued). */
  | { answer: { status: number; headers: string[]; body: Buffer } }
  | { fault: TransportFault }

/** Sends a call once it is prepared: a token fetched, a signature made. The promise must not be rejected. */
export function sendDeferred(transport: Transport, sink: ResponseSink, prepare: Promise<Prepared>): Sending {
  const deferred = new DeferredSending()
  void prepare.then((prepared) => deferred.begin(transport, sink, prepared))
  return deferred
}

/** A call that may be aborted or paused before it has begun. */
export class PendingSending implements Sending {
  #sending: Sending | null = null
  #paused = false
  protected aborted = false

  /** Again where a call is repeated, once the one before is abandoned. */
  protected start(sending: Sending): void {
    this.#sending = sending
    if (this.#paused) sending.pause()
  }

  protected abandon(): void {
    this.#sending?.abort()
  }

  abort(): void {
    this.aborted = true
    this.abandon()
  }

  pause(): void {
    this.#paused = true
    this.#sending?.pause()
  }

  resume(): void {
    this.#paused = false
    this.#sending?.resume()
  }
}

class DeferredSending extends PendingSending {
  begin(transport: Transport, sink: ResponseSink, prepared: Prepared): void {
    if (this.aborted) return
    if ('fault' in prepared) return sink.onError(prepared.fault)
    if ('answer' in prepared) return this.#answer(sink, prepared.answer)
    this.start((prepared.transport ?? transport).send(prepared.request, prepared.sink))
  }

  #answer(sink: ResponseSink, { status, headers, body }: { status: number; headers: string[]; body: Buffer }): void {
    sink.onConnected()
    for (const step of [() => sink.onHead(status, headers), () => sink.onData(body), () => sink.onEnd()]) {
      if (!this.aborted) step()
    }
  }
}
