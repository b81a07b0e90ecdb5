import type { Fault } from '../../core/errors.ts'
import { slicedBytes } from '../../core/json/known-spans.ts'
import { scanInSlices } from '../../core/json/sliced-json.ts'
import type { ObjectName } from '../../core/objects/stored-object.ts'
import type { SocketReader, StreamedError } from '../../lanes/contract.ts'
import type { Frame } from '../../providers/socket-peer.ts'
import type { PassedFrames, SocketContent } from '../content/socket-content.ts'
import { objectsEntry } from '../objects/created-objects.ts'
import type { Call } from '../request/call.ts'
import type { RequestEnd } from '../request/trace.ts'
import type { OpenedProvider } from './open-provider.ts'
import { SocketTurns } from './socket-turns.ts'

/** The connection. */
interface ClientSide {
  end(reason: Fault): void
  reject(reason: Fault, streamId?: string): void
  /** Sends bytes before the frame that is being read. */
  sendBefore(bytes: Buffer): void
}

/** How many of a provider's error frames are recorded. */
const errorsKept = 5
/** How many of a connection's objects are remembered. Older ones are looked up. */
const objectsKept = 1000

/** Frames from the provider: passed unchanged, and read on the way. */
export class FramesDown {
  readonly turns: SocketTurns
  readonly #call: Call
  readonly #reader: SocketReader
  /** Objects created on this connection. Naming one here needs no look-up, and the provider may not even store it. */
  readonly #made = new Set<string>()
  #provider: OpenedProvider | null = null
  #errors = 0
  /** The provider's last error. */
  error: RequestEnd['error'] = null
  /** Content rules for these frames; null: none apply. */
  content: SocketContent | null = null

  constructor(call: Call, reader: SocketReader) {
    this.#call = call
    this.#reader = reader
    this.turns = new SocketTurns(call, reader)
  }

  connected(provider: OpenedProvider): void {
    this.#provider = provider
  }

  knows({ type, id }: ObjectName): boolean {
    return this.#made.has(`${type} ${id}`)
  }

  read(frame: Frame, bridge: ClientSide): Frame | null | Promise<Frame | null> {
    if (frame.bytes.length < slicedBytes) return this.#read(frame, bridge)
    return scanInSlices(frame.bytes).then(() => this.#read(frame, bridge))
  }

  #read(frame: Frame, bridge: ClientSide): Frame | null | Promise<Frame | null> {
    const asked = this.content !== null && this.turns.asked
    const { created, seen, error } = this.#reader.frame(frame.bytes)
    if (error !== null) this.#recordError(error)
    for (const object of seen) this.#remember(object)
    const provider = this.#provider
    if (provider === null) return frame
    const refused = this.turns.follow(provider, error !== null)
    if (refused !== null) {
      // The provider has started the response, or writes more than the budgets allow: only closing the connection stops it.
      bridge.end(refused)
      return null
    }
    const { content } = this
    if (content === null) return created.length === 0 ? frame : this.#journal(created, provider).then(() => frame)
    const passing = content.pass(frame.bytes, asked)
    if (created.length === 0 && !(passing instanceof Promise)) return this.#pass(passing, frame, bridge)
    return this.#journal(created, provider).then(async () => this.#pass(await passing, frame, bridge))
  }

  #pass(passed: PassedFrames, frame: Frame, bridge: ClientSide): Frame | null {
    if (!('code' in passed)) {
      for (const bytes of passed.slice(0, -1)) bridge.sendBefore(bytes)
      const bytes = passed.at(-1)
      return bytes === undefined ? null : { ...frame, bytes }
    }
    bridge.reject(passed, this.content?.streamOf(frame.bytes))
    return null
  }

  /** Called before the client can name the object. */
  async #journal(made: readonly ObjectName[], provider: OpenedProvider): Promise<void> {
    if (made.length === 0) return
    const entry = objectsEntry({ ...provider, call: this.#call }, { made: [...made], forgotten: [] })
    await this.#call.gateway.journal.append(entry)
  }

  #remember({ type, id }: ObjectName): void {
    const [oldest] = this.#made
    if (this.#made.size >= objectsKept && oldest !== undefined) this.#made.delete(oldest)
    this.#made.add(`${type} ${id}`)
  }

  #recordError({ code, origin, message }: StreamedError): void {
    const cleaned = this.#provider?.clean(Buffer.from(message)).toString() ?? message
    this.error = { code, origin, message: cleaned }
    if (this.#errors++ < errorsKept) this.#call.trace.note('provider.error', `The provider said: ${cleaned}`)
  }
}
