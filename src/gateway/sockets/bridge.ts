import { type Fault, fault } from '../../core/errors.ts'
import { formatDuration } from '../../core/units.ts'
import type { SocketReader } from '../../lanes/contract.ts'
import type { Closing, Frame, Peer, PeerSink } from '../../providers/socket-peer.ts'
import { type Holder, noRoom } from '../body-room.ts'
import type { Exchange } from '../exchange.ts'
import type { Gateway } from '../gateway.ts'
import { settle } from '../settle.ts'
import { type CloseFrame, clientLeft, ended, type Goodbye, parted, providerLeft, refusedBy } from './goodbye.ts'
import type { Opened, OpenedProvider } from './open-provider.ts'
import { Pulse, watchPulses } from './pulse.ts'
import { type Look, Way } from './way.ts'

export interface BridgeOptions {
  gateway: Gateway
  exchange: Exchange
  reader: SocketReader
  client: Peer
  /** null: the first frame decides who it is; until then nothing is passed on. */
  provider: OpenedProvider | null
  lookUp(frame: Frame): ReturnType<Look>
  lookDown(frame: Frame): ReturnType<Look>
}

const none = Buffer.alloc(0)

/** Two sides, and what passes between them. It ends once, and the record stands before the client is told so. */
export class Bridge {
  readonly #options: BridgeOptions
  readonly #client: Pulse
  readonly #up: Way
  #provider: Pulse | null = null
  #down: Way | null = null
  #over = false
  #dialling = false
  /** Of messages that have not ended, one a side. */
  readonly #holders: Holder[] = []
  readonly #pulses: { stop(): void }
  readonly #done = Promise.withResolvers<void>()

  constructor(options: BridgeOptions) {
    const { gateway, exchange, client, lookUp } = options
    this.#options = options
    this.#client = new Pulse(client)
    this.#up = new Way(client, null, (frame) => this.#countUp(lookUp(frame), frame), this.#onFault)
    const limitMs = gateway.settings.timeouts.betweenChunks
    const pulses = () => (this.#provider === null ? [this.#client] : [this.#client, this.#provider])
    this.#pulses = watchPulses(gateway.deadlines, limitMs, pulses, (dead) => this.#timeOut(dead, limitMs))
    exchange.whenGone(() => this.#stop())
    exchange.whenDraining(() => this.#partIfIdle())
  }

  /** Resolves when both sides have been told of the end and the record stands. */
  run(): Promise<void> {
    const { exchange, client, provider } = this.#options
    if (provider !== null) this.lead(provider)
    if (exchange.stopped) this.#stop()
    else client.attach(this.#sink(this.#client, this.#up, () => this.#down, clientLeft))
    return this.#done.promise
  }

  /** The provider stands; from here on frames pass. */
  lead({ peer, clean }: OpenedProvider): void {
    const { client, lookDown } = this.#options
    if (this.#over) return peer.close(1001, none)
    const pulse = new Pulse(peer)
    const down = new Way(peer, client, (frame) => this.#countDown(lookDown(frame)), this.#onFault)
    this.#provider = pulse
    this.#down = down
    this.#up.lead(peer)
    peer.attach(
      this.#sink(
        pulse,
        down,
        () => this.#up,
        (closing) => providerLeft(closing, clean),
      ),
    )
  }

  /** Dials while the client waits. Null: there is no provider, and the connection has its end or will have it at once. */
  async open(dial: () => Promise<Opened>): Promise<OpenedProvider | null> {
    const { exchange } = this.#options
    this.#dialling = true
    const opened = await dial()
    this.#dialling = false
    exchange.whenGone(() => this.#stop())
    if (opened.kind === 'open') {
      this.lead(opened.end)
      return this.#over ? null : opened.end
    }
    if (exchange.ending !== null) this.#stop()
    else if (opened.kind === 'failed') this.end(opened.fault)
    else if (opened.kind === 'refused') void this.finish(refusedBy(opened.answer.gated.head.status))
    return null
  }

  end(reason: Fault): void {
    void this.finish(ended(reason))
  }

  /** Tells the client of a fault, and goes on; where the protocol has no frame for it, it is the end. */
  tell(reason: Fault): void {
    const { exchange, client } = this.#options
    if (this.#over) return
    const frame = exchange.match!.endpoint.socket!.errorFrame(reason, exchange.id)
    if (frame === null) return void this.finish(ended(reason))
    this.#send(client, frame)
  }

  async finish(goodbye: Goodbye): Promise<void> {
    if (this.#over) return
    this.#over = true
    const { gateway, exchange, client, reader } = this.#options
    exchange.whenGone(null)
    exchange.whenDraining(null)
    this.#pulses.stop()
    for (const holder of this.#holders) gateway.room.release(holder)
    this.#up.cut()
    this.#down?.cut()
    close(this.#provider?.peer ?? null, goodbye.provider)
    exchange.mark('last_byte')
    try {
      await settle(gateway, exchange, { status: 101, error: goodbye.error, tokens: reader.usage() })
      if (goodbye.fault !== null && goodbye.client !== null) this.#sendFault(goodbye.fault)
    } finally {
      close(client, goodbye.client)
      this.#done.resolve()
    }
  }

  #sendFault(reason: Fault): void {
    const { exchange, client } = this.#options
    const frame = exchange.match!.endpoint.socket!.errorFrame(reason, exchange.id)
    if (frame !== null) this.#send(client, frame)
  }

  #send(client: Peer, bytes: Buffer): void {
    this.#options.exchange.responseBytes += bytes.length
    client.send({ bytes, binary: false })
  }

  /** `way` leads from this side, `back` to it. */
  #sink(pulse: Pulse, way: Way, back: () => Way | null, left: (closing: Closing) => Goodbye): PeerSink {
    const { room } = this.#options.gateway
    const holder: Holder = { roomTaken: 0 }
    this.#holders.push(holder)
    return {
      onFrame: (frame) => {
        room.release(holder)
        pulse.beat()
        way.take(frame)
      },
      onPending: (bytes) => {
        if (this.#over || room.cover(holder, bytes)) return
        pulse.peer.pause()
        this.end(noRoom())
      },
      onPing: (bytes) => {
        pulse.beat()
        way.ping(bytes)
      },
      onPong: (bytes) => {
        const own = pulse.isOwn(bytes)
        pulse.beat()
        if (!own) way.pong(bytes)
      },
      onWritten: () => {
        // What was written at once says nothing of who is to read it; with a backlog somebody has read.
        if (pulse.peer.waiting > 0) pulse.beat()
        back()?.written()
      },
      onClosing: (closing) => {
        if (this.#dialling) this.#giveUpDialling()
        way.end(() => void this.finish(left(closing)))
      },
    }
  }

  #countUp(looked: ReturnType<Look>, { bytes }: Frame): ReturnType<Look> {
    this.#options.exchange.frameBytes += bytes.length
    return looked
  }

  #countDown(looked: ReturnType<Look>): ReturnType<Look> {
    if (looked instanceof Promise) return looked.then((frame) => this.#noteDown(frame))
    return this.#noteDown(looked)
  }

  #noteDown(frame: Frame | null): Frame | null {
    const { exchange } = this.#options
    exchange.firstByteMs ??= exchange.elapsed()
    exchange.responseBytes += frame?.bytes.length ?? 0
    return frame
  }

  #giveUpDialling(): void {
    const { exchange } = this.#options
    exchange.gone = true
    exchange.tellGone()
  }

  /** The gateway ends it: a revoked key, its own stop, a fault of this thread. */
  #stop(): void {
    const { gateway, exchange } = this.#options
    const reason = exchange.ending
    if (reason === null) return void this.finish(clientLeft({ code: null, reason: none, how: 'lost' }))
    void this.finish(ended(reason, reason.code === 'overloaded' && gateway.draining))
  }

  #partIfIdle(): void {
    if (this.#options.reader.busy()) return
    void this.finish(parted())
  }

  #timeOut(dead: Pulse, limitMs: number): void {
    const after = `for ${formatDuration(limitMs)}`
    if (dead === this.#client) return void this.finish(clientLeft({ code: null, reason: none, how: 'lost' }))
    void this.finish({
      ...ended(fault('provider_timeout', `The provider gave no sign of life ${after}. Connect again.`)),
      provider: null,
    })
  }

  readonly #onFault = (error: unknown): void => {
    const { gateway, exchange } = this.#options
    const reason = error instanceof Error ? (error.stack ?? error.message) : String(error)
    gateway.report({ type: 'fault', requestId: exchange.id, reason })
    void this.finish(ended(fault('internal')))
  }
}

function close(peer: Peer | null, frame: CloseFrame): void {
  if (frame === null) peer?.terminate()
  else peer?.close(frame.code, frame.reason)
}
