import type { ObjectName } from '../../core/stored-object.ts'
import type { SocketReader } from '../../lanes/contract.ts'
import type { Frame } from '../../providers/socket-peer.ts'
import type { Exchange } from '../exchange.ts'
import type { Gateway } from '../gateway.ts'
import { objectsEntry } from '../objects/note-answer.ts'
import type { OpenedProvider } from './open-provider.ts'

/** So many of a provider's error frames stand on the record. */
const errorsKept = 5
/** So many of a connection's objects are remembered; whatever is older is looked up. */
const objectsKept = 1000

/** What comes from the provider: passed as it is, and read beside it. */
export class FramesDown {
  readonly #gateway: Gateway
  readonly #exchange: Exchange
  readonly #reader: SocketReader
  /** Made on this connection: who names one of them here need not be looked up, nor could be where the provider stores none. */
  readonly #made = new Set<string>()
  #provider: OpenedProvider | null = null
  #errors = 0

  constructor(gateway: Gateway, exchange: Exchange, reader: SocketReader) {
    this.#gateway = gateway
    this.#exchange = exchange
    this.#reader = reader
  }

  standsWith(provider: OpenedProvider): void {
    this.#provider = provider
  }

  knows({ type, id }: ObjectName): boolean {
    return this.#made.has(`${type} ${id}`)
  }

  look(frame: Frame): Frame | Promise<Frame> {
    const { created: told, seen: named, error } = this.#reader.frame(frame.bytes)
    if (error !== null && this.#errors++ < errorsKept) this.#note(error.message)
    for (const object of named) this.#remember(object)
    return told.length === 0 ? frame : this.#journal(told, frame)
  }

  /** Before the client can name it. */
  async #journal(made: readonly ObjectName[], frame: Frame): Promise<Frame> {
    const entry = objectsEntry(this.#exchange, this.#provider!, { made: [...made], forgotten: [] })
    await this.#gateway.journal.append(entry)
    return frame
  }

  #remember({ type, id }: ObjectName): void {
    const [oldest] = this.#made
    if (this.#made.size >= objectsKept && oldest !== undefined) this.#made.delete(oldest)
    this.#made.add(`${type} ${id}`)
  }

  #note(message: string): void {
    const cleaned = this.#provider?.clean(Buffer.from(message)).toString() ?? message
    this.#exchange.routingSignals.push({
      rule: 'provider.error',
      verdict: 'note',
      text: `The provider said: ${cleaned}`,
    })
  }
}
