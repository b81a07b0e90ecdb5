import { type FaultReport, isBehind, reportFault } from '../cli/fault.ts'
import type { GatewayClient, Operation } from '../cli/operation.ts'

export type LinkState =
  | { kind: 'connecting' }
  | { kind: 'live' }
  /** Nobody answers; `report` says what to do. */
  | { kind: 'absent'; report: FaultReport }

const retryMs = 1000

/** The gateway, or its absence. Calls fail as they do on the command line; whoever wants to see it come back asks to be told. */
export class GatewayLink {
  #state: LinkState = { kind: 'connecting' }
  #gateway: Promise<GatewayClient> | null = null
  #stop = new AbortController()
  readonly #connect: () => Promise<GatewayClient>
  readonly #changed: (state: LinkState, before: LinkState) => void

  constructor(connect: () => Promise<GatewayClient>, changed: (state: LinkState, before: LinkState) => void) {
    this.#connect = connect
    this.#changed = changed
  }

  get state(): LinkState {
    return this.#state
  }

  async call(operation: Pick<Operation, 'path'>, input: object, signal?: AbortSignal): Promise<unknown> {
    const both = signal === undefined ? this.#stop.signal : AbortSignal.any([signal, this.#stop.signal])
    try {
      this.#gateway ??= this.#connect()
      const answer = await (await this.#gateway).call(operation.path, input, { signal: both })
      this.#setState({ kind: 'live' })
      return answer
    } catch (error) {
      if (!both.aborted) this.#classify(error)
      throw error
    }
  }

  /** Rows of a stream until the returned function is called; opened again whenever it ends. */
  follow(operation: Pick<Operation, 'path'>, input: object, take: (row: unknown) => void, fail?: Fail): () => void {
    const stop = new AbortController()
    void this.#followOn(operation, input, stop.signal, take, fail)
    return () => stop.abort()
  }

  async #followOn(
    operation: Pick<Operation, 'path'>,
    input: object,
    signal: AbortSignal,
    take: (row: unknown) => void,
    fail: Fail | undefined,
  ): Promise<void> {
    while (!signal.aborted && !this.#stop.signal.aborted) {
      try {
        const rows = await this.call(operation, input, signal)
        if (!isStream(rows)) throw new TypeError('The gateway did not return a stream.')
        for await (const row of rows) {
          if (signal.aborted) return
          take(row)
        }
      } catch (error) {
        if (signal.aborted || this.#stop.signal.aborted) return
        this.#classify(error)
        if (isAnswer(error)) return fail?.(reportFault(error), isBehind(error))
      }
      await this.pause(signal)
    }
  }

  /** Until it is worth trying again. */
  async pause(signal: AbortSignal, milliseconds = retryMs): Promise<void> {
    const both = AbortSignal.any([signal, this.#stop.signal])
    if (both.aborted) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(done, milliseconds)
      function done() {
        clearTimeout(timer)
        both.removeEventListener('abort', done)
        resolve()
      }
      both.addEventListener('abort', done)
    })
  }

  /** Ends every call and stream. */
  close(): void {
    this.#stop.abort()
  }

  /** An answer that is an error came from a gateway that is there. */
  #classify(error: unknown): void {
    if (isAnswer(error)) this.#setState({ kind: 'live' })
    else {
      this.#gateway = null
      this.#setState({ kind: 'absent', report: reportFault(error) })
    }
  }

  #setState(state: LinkState): void {
    const before = this.#state
    this.#state = state
    if (before.kind !== state.kind) this.#changed(state, before)
  }
}

/** `behind`: rows were missed, and are there to be read. */
type Fail = (report: FaultReport, behind: boolean) => void

function isAnswer(error: unknown): boolean {
  const status = typeof error === 'object' && error !== null ? Reflect.get(error, 'status') : undefined
  return typeof status === 'number'
}

function isStream(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value
}
