import type { OutboundRequest, ResponseSink, Transport } from '../../../src/providers/contract.ts'
import type { Alert, AlertDelivery, StoreClient } from '../../../src/store/api.ts'

/** What the store does, without its file: `alerts` of the tables, as far as the watch asks for them. */
export class Store {
  alerts: Alert[] = []
  deliveries: AlertDelivery[] = []
  crossings: { alertId: string; crossing: string }[] = []
  forgotten: { time: string; kept: readonly string[] }[] = []
  /** What the next questions fail with. */
  failures: Error[] = []

  readonly tables: Partial<StoreClient['alerts']> = {
    list: async () => {
      const failure = this.failures.shift()
      if (failure !== undefined) throw failure
      return this.alerts
    },
    crossings: async () => structuredClone(this.crossings),
    raise: async (alertId, { crossed, ended, deliveries }) => {
      this.crossings = this.crossings.filter((each) => each.alertId !== alertId || !ended.includes(each.crossing))
      this.crossings.push(...crossed.map((crossing) => ({ alertId, crossing })))
      this.deliveries.push(...structuredClone(deliveries))
    },
    due: async (time) => this.deliveries.filter(({ nextAt }) => nextAt !== null && nextAt <= time),
    delivery: async (id) => structuredClone(this.deliveries.find((each) => each.id === id) ?? null),
    noteTry: async (id, tried) => {
      this.deliveries = this.deliveries.map((each) => (each.id === id ? { ...each, ...tried } : each))
    },
    forget: async (time, kept) => void this.forgotten.push({ time, kept }),
  }
}

/** Holds each call until it is answered. */
export class Receivers implements Transport {
  readonly calls: { request: OutboundRequest; sink: ResponseSink }[] = []
  /** Answers at once; null: not by itself. */
  status: number | null = 200
  #waiting: (() => void)[] = []

  send(request: OutboundRequest, sink: ResponseSink) {
    this.calls.push({ request, sink })
    if (this.status !== null) this.answer(this.calls.length - 1, this.status)
    for (const wake of this.#waiting.splice(0)) wake()
    return { abort() {}, pause() {}, resume() {} }
  }

  answer(call: number, status: number): void {
    this.calls[call]?.sink.onHead(status, [])
    this.calls[call]?.sink.onEnd()
  }

  async called(times: number): Promise<void> {
    while (this.calls.length < times) await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  get paths(): string[] {
    return this.calls.map(({ request }) => `${request.origin}${request.path}`)
  }
}
