import type { Socket } from 'node:net'
import WebSocket from 'ws'
import { nextTurn } from '../core/threads/slices.ts'

/** One message, its fragments joined. */
export interface Frame {
  bytes: Buffer
  binary: boolean
}

/** How a connection ended, or asks to. */
export interface Closing {
  /** null: none was given. */
  code: number | null
  reason: Buffer
  /** `asked`: by a closing frame. `broken`: frames that are none, or too large. `lost`: without a closing handshake. */
  how: 'asked' | 'broken' | 'lost'
}

/** Nothing is called after `onClosing`. */
export interface PeerSink {
  onFrame(frame: Frame): void
  /** So many bytes of a message that has not ended are held. Up to one read too many are counted. */
  onPending(bytes: number): void
  onPing(bytes: Buffer): void
  onPong(bytes: Buffer): void
  /** Of what was sent, some has been written out. */
  onWritten(): void
  /** The answer to a closing frame is this side's to give: `close`. */
  onClosing(closing: Closing): void
}

/** How long the other side may take to answer a closing frame before its connection is cut. */
const closeTimeoutMs = 2000

/** What both sides of every connection have in common. Compression is never negotiated: it costs memory on each, and most traffic is audio. */
export const socketOptions = {
  perMessageDeflate: false,
  // A ping is for the other side of the gateway.
  autoPong: false,
  closeTimeout: closeTimeoutMs,
} as const

/** A WebSocket that leaves the answer to a closing frame to its owner. */
export class HeldSocket extends WebSocket {
  onHeld: ((code: number | undefined, reason: Buffer) => void) | null = null

  override close(code?: number, reason?: string | Buffer): void {
    const { onHeld } = this
    if (onHeld === null) return super.close(code, reason)
    this.onHeld = null
    onHeld(code, Buffer.from(reason ?? ''))
  }

  release(): void {
    this.onHeld = null
  }
}

const nothing = Buffer.alloc(0)
/** So many frames, pings and pongs in one chunk are a flood. */
const manyEvents = 64
/** A remainder of a message that costs nothing to read. */
const fewBytes = 64 * 1024

/**
 * One side of a WebSocket, as the gateway sees it, client's or provider's. It reads nothing until somebody listens, and
 * does not answer a closing frame by itself, so that a record can stand before the connection ends.
 */
export class Peer {
  readonly #socket: HeldSocket
  readonly #written = () => this.#sink?.onWritten()
  #sink: PeerSink | null = null
  #closing: Closing | null = null
  #pending = 0
  /** Of the chunk that is being read. */
  #events = 0
  /** Asked for by its owner. */
  #held = false
  #letsOthers = false
  readonly #connection: Socket

  /** `connection`: what the frames come over. */
  constructor(socket: HeldSocket, connection: Socket) {
    this.#socket = socket
    this.#connection = connection
    socket.pause()
    connection.on('data', (chunk: Buffer) => {
      this.#pending += chunk.length
      this.#sink?.onPending(this.#pending)
      if (this.#events > manyEvents) this.#letOthers()
      this.#events = 0
    })
    socket.onHeld = this.#hold.bind(this)
    socket.on('error', () => {
      // Of frames that are none the closing that was held a moment ago; else the connection is lost, and `close` says so.
      if (this.#closing !== null) this.#closing = { ...this.#closing, how: 'broken' }
    })
    socket.on('close', () => this.#recordClosing({ code: null, reason: nothing, how: 'lost' }))
    socket.on('message', (bytes: Buffer, binary: boolean) => {
      this.#pending = 0
      this.#events++
      this.#sink?.onFrame({ bytes, binary })
    })
    socket.on('ping', (bytes: Buffer) => {
      this.#events++
      this.#sink?.onPing(bytes)
    })
    socket.on('pong', (bytes: Buffer) => {
      this.#events++
      this.#sink?.onPong(bytes)
    })
  }

  attach(sink: PeerSink): void {
    this.#sink = sink
    if (this.#closing !== null) this.#reportClosing()
    else this.#socket.resume()
  }

  /** Bytes that wait to be written out. */
  get waiting(): number {
    return this.#socket.bufferedAmount
  }

  /** It is not read now: what it says cannot be heard. */
  get paused(): boolean {
    return this.#socket.isPaused
  }

  send(frame: Frame): void {
    this.#socket.send(frame.bytes, { binary: frame.binary }, this.#written)
  }

  ping(bytes: Buffer): void {
    this.#socket.ping(bytes, undefined, this.#written)
  }

  pong(bytes: Buffer): void {
    this.#socket.pong(bytes, undefined, this.#written)
  }

  pause(): void {
    this.#held = true
    this.#socket.pause()
  }

  resume(): void {
    this.#held = false
    if (!this.#letsOthers) this.#socket.resume()
  }

  /** What came at once and costs much: the rest is read in a later turn of the event loop. Node reads up to 2 MiB in one. */
  #letOthers(): void {
    if (this.#letsOthers || this.#sink === null) return
    this.#letsOthers = true
    this.#socket.pause()
    void nextTurn().then(() => {
      this.#letsOthers = false
      if (!this.#held) this.#socket.resume()
    })
  }

  /** Starts the closing handshake, or answers it. Nothing more goes to the sink. */
  close(code: number | null, reason: Buffer): void {
    this.#sink = null
    this.#socket.release()
    // The answer can only come behind it: what is left of a large message is taken in unread.
    if (this.#pending > fewBytes) this.#connection.removeAllListeners('data')
    this.#socket.resume()
    if (code === null) this.#socket.close()
    else this.#socket.close(code, reason)
  }

  /** Ends the connection without a closing handshake. */
  terminate(): void {
    this.#sink = null
    this.#socket.terminate()
  }

  #hold(code: number | undefined, reason: Buffer): void {
    this.#recordClosing({ code: code ?? null, reason, how: 'asked' })
  }

  #recordClosing(closing: Closing): void {
    if (this.#closing !== null) return
    this.#closing = closing
    // In its own turn: the error that explains a closing comes right behind it.
    queueMicrotask(() => this.#reportClosing())
  }

  #reportClosing(): void {
    const sink = this.#sink
    const closing = this.#closing
    if (sink === null || closing === null) return
    this.#sink = null
    sink.onClosing(closing)
  }
}
