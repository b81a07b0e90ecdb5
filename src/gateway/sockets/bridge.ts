import { type Fault, fault } from '../../core/errors.ts'
import { formatDuration } from '../../core/units.ts'
import type { EndpointSocket } from '../../lanes/contract.ts'
import type { Closing, Frame, Peer, PeerSink } from '../../providers/socket-peer.ts'
import { settle } from '../answer/settle.ts'
import type { Call } from '../request/call.ts'
import { type MemoryHolder, outOfMemory } from '../request/memory-budget.ts'
import {
  type CloseFrame,
  type Closure,
  clientLeft,
  drained,
  ended,
  providerLeft,
  recordedError,
  refusedBy,
} from './close-codes.ts'
import { Direction, type ReadFrame } from './direction.ts'
import type { FramesDown } from './frames-down.ts'
import type { Opened, OpenedProvider } from './open-provider.ts'
import { LivePeer, watchPeers } from './ping.ts'

export interface BridgeOptions {
  call: Call
  socket: EndpointSocket
  down: FramesDown
  client: Peer
  /** null: the first frame decides which provider; until then nothing is passed on. */
  provider: OpenedProvider | null
  readUp(frame: Frame): ReturnType<ReadFrame>
  readDown(frame: Frame): ReturnType<ReadFrame>
}

const none = Buffer.alloc(0)

/** The two sides of a connection, and what passes between them. It ends once, and its record is written before the client is told. */
export class Bridge {
  readonly #options: BridgeOptions
  readonly #client: LivePeer
  readonly #up: Direction
  #provider: LivePeer | null = null
  #down: Direction | null = null
  #over = false
  #dialling = false
  /** Memory of incomplete messages, one for each side. */
  readonly #holders: MemoryHolder[] = []
  readonly #watch: { stop(): void }
  readonly #done = Promise.withResolvers<void>()

  constructor(options: BridgeOptions) {
    const { call, client, readUp } = options
    const { gateway, abort } = call
    this.#options = options
    this.#client = new LivePeer(client)
    this.#up = new Direction(client, null, (frame) => this.#countUp(readUp(frame), frame), this.#onFault)
    const limitMs = gateway.settings.timeouts.betweenChunks
    const peers = () => (this.#provider === null ? [this.#client] : [this.#client, this.#provider])
    this.#watch = watchPeers(gateway.deadlines, limitMs, peers, (dead) => this.#timeOut(dead, limitMs))
    abort.onAbort(() => this.#stop())
    abort.onDrain(() => this.#closeIfIdle())
  }

  /** Resolves when both sides have been told of the end and the record is written. */
  run(): Promise<void> {
    const { call, client, provider } = this.#options
    if (provider !== null) this.connect(provider)
    if (call.abort.aborted) this.#stop()
    else client.attach(this.#sink(this.#client, this.#up, () => this.#down, clientLeft))
    return this.#done.promise
  }

  /** Starts passing frames. */
  connect({ peer, clean }: OpenedProvider): void {
    const { client, readDown } = this.#options
    if (this.#over) return peer.close(1001, none)
    const live = new LivePeer(peer)
    const down = new Direction(peer, client, (frame) => this.#countDown(readDown(frame)), this.#onFault)
    this.#provider = live
    this.#down = down
    this.#up.connect(peer)
    peer.attach(
      this.#sink(
        live,
        down,
        () => this.#up,
        (closing) => providerLeft(closing, clean),
      ),
    )
  }

  /** Connects to the provider while the client waits. Null: no provider, and the connection has ended or is about to. */
  async open(dial: () => Promise<Opened>): Promise<OpenedProvider | null> {
    const { abort } = this.#options.call
    this.#dialling = true
    const opened = await dial()
    this.#dialling = false
    abort.onAbort(() => this.#stop())
    if (opened.kind === 'open') {
      this.connect(opened.end)
      return this.#over ? null : opened.end
    }
    if (abort.reason !== null) this.#stop()
    else if (opened.kind === 'failed') this.end(opened.fault)
    else if (opened.kind === 'refused') void this.finish(refusedBy(opened.answer.gated.head.status))
    return null
  }

  end(reason: Fault): void {
    void this.finish(ended(reason))
  }

  /** Sends the client a fault and continues; if the protocol has no frame for it, the connection ends. */
  reject(reason: Fault, streamId?: string): void {
    if (this.#over) return
    if (!this.#sendFault(reason, streamId)) void this.finish(ended(reason))
  }

  /** Sends bytes to the client before the provider's current frame. */
  sendBefore(bytes: Buffer): void {
    if (this.#over) return
    this.#options.call.trace.responseBytes += bytes.length
    this.#options.client.send({ bytes, binary: false })
  }

  get isOver(): boolean {
    return this.#over
  }

  async finish(closing: Closure): Promise<void> {
    if (this.#over) return
    this.#over = true
    const { call, client, down } = this.#options
    const { turns } = down
    const { arrival, abort, gateway, trace } = call
    abort.onAbort(null)
    abort.onDrain(null)
    this.#watch.stop()
    for (const holder of this.#holders) gateway.memoryBudget.release(holder)
    this.#up.cut()
    this.#down?.cut()
    close(this.#provider?.peer ?? null, closing.provider)
    trace.mark('last_byte')
    try {
      const error = recordedError(closing, turns.busy(), down.error)
      turns.cut(error?.origin !== 'provider')
      await settle(arrival, { status: 101, error, tokens: turns.tokens(), detail: turns.detail() })
      if (closing.fault !== null && closing.client !== null) this.#sendFault(closing.fault)
    } finally {
      close(client, closing.client)
      this.#done.resolve()
    }
  }

  /** False: the protocol has no frame for a fault. */
  #sendFault(reason: Fault, streamId?: string): boolean {
    const { call, socket, client } = this.#options
    const bytes = socket.errorFrame(reason, call.id, streamId)
    if (bytes === null) return false
    call.trace.responseBytes += bytes.length
    client.send({ bytes, binary: false })
    return true
  }

  /** `direction` leads away from this side, `back` towards it. */
  #sink(
    live: LivePeer,
    direction: Direction,
    back: () => Direction | null,
    left: (closing: Closing) => Closure,
  ): PeerSink {
    const { memoryBudget } = this.#options.call.gateway
    const holder: MemoryHolder = { reserved: 0 }
    this.#holders.push(holder)
    return {
      onFrame: (frame) => {
        memoryBudget.release(holder)
        live.sign()
        direction.pass(frame)
      },
      onPending: (bytes) => {
        if (this.#over || memoryBudget.reserve(holder, bytes)) return
        live.peer.pause()
        this.end(outOfMemory())
      },
      onPing: (bytes) => {
        live.sign()
        direction.ping(bytes)
      },
      onPong: (bytes) => {
        const own = live.isOwn(bytes)
        live.sign()
        if (!own) direction.pong(bytes)
      },
      onWritten: () => {
        // Writing at once does not prove that the other side reads; a shrinking backlog does.
        if (live.peer.waiting > 0) live.sign()
        back()?.written()
      },
      onClosing: (closing) => {
        if (this.#dialling) this.#options.call.abort.disconnect()
        direction.end(() => void this.finish(left(closing)))
      },
    }
  }

  #countUp(read: ReturnType<ReadFrame>, { bytes }: Frame): ReturnType<ReadFrame> {
    this.#options.call.trace.requestBytes += bytes.length
    return read
  }

  #countDown(read: ReturnType<ReadFrame>): ReturnType<ReadFrame> {
    if (read instanceof Promise) return read.then((frame) => this.#recordDown(frame))
    return this.#recordDown(read)
  }

  #recordDown(frame: Frame | null): Frame | null {
    const { trace } = this.#options.call
    trace.firstByteMs ??= trace.elapsed()
    trace.responseBytes += frame?.bytes.length ?? 0
    return frame
  }

  /** The gateway ends the connection: a revoked key, a shutdown, or a fault of this thread. */
  #stop(): void {
    const { gateway, abort } = this.#options.call
    const { reason } = abort
    if (reason === null) return void this.finish(clientLeft({ code: null, reason: none, how: 'lost' }))
    void this.finish(ended(reason, reason.code === 'overloaded' && gateway.draining))
  }

  #closeIfIdle(): void {
    if (this.#options.down.turns.busy()) return
    void this.finish(drained())
  }

  #timeOut(dead: LivePeer, limitMs: number): void {
    const after = `for ${formatDuration(limitMs)}`
    if (dead === this.#client) return void this.finish(clientLeft({ code: null, reason: none, how: 'lost' }))
    void this.finish({
      ...ended(fault('provider_timeout', `The provider gave no sign of life ${after}. Connect again.`)),
      provider: null,
      left: true,
    })
  }

  readonly #onFault = (error: unknown): void => {
    this.#options.call.arrival.reportFault(error)
    void this.finish(ended(fault('internal')))
  }
}

function close(peer: Peer | null, frame: CloseFrame): void {
  if (frame === null) peer?.terminate()
  else peer?.close(frame.code, frame.reason)
}
