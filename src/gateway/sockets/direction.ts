import { nextTurn } from '../../core/threads/slices.ts'
import type { Frame, Peer } from '../../providers/socket-peer.ts'

/** When this many bytes wait for a slow reader, the other side is not read any more; below the second number it is read again. */
const fullBytes = 1024 * 1024
const freeBytes = 256 * 1024
/** Yields to other work after this many frames: one chunk may contain ten thousand. */
const framesInTurn = 256

/** What to send in place of a frame: itself, another one, or nothing. Frames that follow wait until a promise resolves. */
export type ReadFrame = (frame: Frame) => Frame | null | Promise<Frame | null>

/** One direction of a connection: passes frames in order, no faster than they are read. */
export class Direction {
  readonly #from: Peer
  readonly #readFrame: ReadFrame
  readonly #onFault: (error: unknown) => void
  #to: Peer | null
  #waiting: Frame[] = []
  #busy = false
  #full = false
  #end: (() => void) | null = null
  #controls: { ping?: Buffer; pong?: Buffer } | null = null
  #cut = false
  #passed = 0

  /** `to` may be set later with `connect`, as long as `read` returns nothing to send before that. */
  constructor(from: Peer, to: Peer | null, read: ReadFrame, onFault: (error: unknown) => void) {
    this.#from = from
    this.#to = to
    this.#readFrame = read
    this.#onFault = onFault
  }

  connect(to: Peer): void {
    this.#to = to
  }

  pass(frame: Frame): void {
    if (this.#cut) return
    if (this.#busy) this.#waiting.push(frame)
    else this.#pass(frame)
  }

  ping(bytes: Buffer): void {
    if (this.#cut) return
    if (this.#to === null) {
      // Of several pings only the last has to be answered (RFC 6455, 5.5.3), so answers cannot pile up.
      if (this.#from.waiting === 0) this.#from.pong(bytes)
      return
    }
    this.#control('ping', bytes)
  }

  pong(bytes: Buffer): void {
    if (this.#cut || this.#to === null) return
    this.#control('pong', bytes)
  }

  /** Of several pings or pongs in one chunk only the last is passed on: one answer stands for all of them (RFC 6455, 5.5.3). */
  #control(kind: 'ping' | 'pong', bytes: Buffer): void {
    if (this.#controls === null) {
      this.#controls = {}
      queueMicrotask(() => this.#sendControls())
    }
    this.#controls[kind] = bytes
  }

  #sendControls(): void {
    const controls = this.#controls
    this.#controls = null
    if (controls === null || this.#cut || this.#to === null) return
    if (controls.ping !== undefined) this.#to.ping(controls.ping)
    if (controls.pong !== undefined) this.#to.pong(controls.pong)
    this.#hold()
  }

  /** The far side has read some of what was sent. */
  written(): void {
    if (!this.#full || this.#to === null || this.#to.waiting > freeBytes) return
    this.#full = false
    this.#read()
  }

  /** Calls back when everything received before has been passed on. */
  end(then: () => void): void {
    this.#end = then
    if (!this.#busy) this.#finish()
  }

  /** Passes nothing more, and does not call back. */
  cut(): void {
    this.#cut = true
    this.#waiting = []
    this.#end = null
  }

  #pass(frame: Frame): void {
    try {
      const pauses = ++this.#passed % framesInTurn === 0
      const looked = pauses ? nextTurn().then(() => this.#readFrame(frame)) : this.#readFrame(frame)
      if (!(looked instanceof Promise)) return this.#send(looked)
      this.#busy = true
      this.#from.pause()
      looked.then((ready) => this.#goOn(ready)).catch(this.#onFault)
    } catch (error) {
      this.#onFault(error)
    }
  }

  #goOn(ready: Frame | null): void {
    this.#busy = false
    if (this.#cut) return
    this.#send(ready)
    while (!this.#busy) {
      const next = this.#waiting.shift()
      if (next === undefined) break
      this.#pass(next)
    }
    if (this.#busy) return
    this.#read()
    this.#finish()
  }

  #send(frame: Frame | null): void {
    this.#sendControls()
    if (frame === null || this.#cut || this.#to === null) return
    this.#to.send(frame)
    this.#hold()
  }

  #hold(): void {
    if (this.#full || this.#to === null || this.#to.waiting <= fullBytes) return
    this.#full = true
    this.#from.pause()
  }

  #read(): void {
    if (!this.#busy && !this.#full && !this.#cut) this.#from.resume()
  }

  #finish(): void {
    const then = this.#end
    this.#end = null
    then?.()
  }
}
