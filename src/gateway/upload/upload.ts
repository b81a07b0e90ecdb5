import type { IncomingMessage } from 'node:http'
import { type Fault, fault } from '../../core/errors.ts'
import { type FormField, type FormScanner, rootForm } from '../../core/form-scan.ts'
import { Pieces, replaceSpan } from '../../core/pieces.ts'
import { describeSize } from '../../core/units.ts'
import type { FormFields } from '../../lanes/contract.ts'
import type { InputWatch } from '../objects/input-watch.ts'
import { discardBody, type TooLarge } from '../request/body.ts'
import { outOfMemory } from '../request/memory-budget.ts'
import { Deadline, type Deadlines } from '../thread/deadlines.ts'
import type { GcPacer } from '../thread/gc-pacing.ts'
import { UploadBody } from './upload-body.ts'

/** Of a body no larger than this, all is kept, so that it can be sent again. */
const keptBytes = 1024 * 1024
/** Enough for the fields of a form and the header of its file. */
const headBytes = 8 * 1024
const noBytes = Buffer.alloc(0)

export interface UploadOptions {
  request: IncomingMessage
  /** As announced; null where the body comes in chunks. */
  declared: number | null
  deadlines: Deadlines
  chunks: GcPacer
  /** Silence allowed to the client between two chunks. */
  betweenChunksMs: number
  /** Most bytes that it may have. */
  limit: number
  /** Most that are held until what must be known has been found. */
  heldLimit: number
  /** null: nothing in it must be known. */
  scanner: FormScanner | null
  /** Looks at the bytes beside; null: nobody does. */
  watch: Pick<InputWatch, 'add' | 'end' | 'unsent'> | null
  fields: FormFields
  keepHead: boolean
}

/** What an upload reports as it goes on; each of the first three at most once. */
export interface UploadPorts {
  /** So many bytes have come in all. */
  received(bytes: number): void
  /** It must not go on. */
  reject(reason: Fault | TooLarge): void
  /** The client disconnected while sending. */
  disconnected(): void
  /** The client has sent all of it. */
  complete(): void
  /** Whether the memory budget allows that many bytes to be held. */
  reserve(bytes: number): boolean
  /** Nothing is held any more. */
  release(): void
}

/** Of one attempt. */
export interface UploadWatcher {
  /** How long the provider may take no bytes. */
  stallMs: number
  /** The last byte has been handed over. */
  sent(): void
  /** The provider takes no more of it. */
  stalled(): void
}

export interface UploadChange {
  start: number
  end: number
  text: string
}

/**
 * A request's body that goes up while it arrives. What must be known of it first is held, then it flows: the client is read no
 * faster than the provider takes it. An attempt gets what is held and then what comes; once bytes have gone that are not kept,
 * there can be no other.
 */
export class Upload {
  /** Bytes that have come. */
  received = 0
  /** Bytes have gone up that are not kept: it cannot be sent again. */
  spent = false
  readonly #options: UploadOptions
  readonly #ports: UploadPorts
  readonly #deadline: Deadline
  #held = new Pieces()
  /** Until what must be known is. */
  #holding: (() => void) | null = null
  #known = 0
  /** Its beginning, where what it costs is read from it. */
  head = noBytes
  #body: UploadBody | null = null
  /** An attempt was made of it, whatever became of that. */
  #begun = false
  #watcher: UploadWatcher | null = null
  #state: 'unread' | 'open' | 'complete' | 'rejected' | 'disconnected' | 'closed' = 'unread'
  /** Whose turn it is. */
  #waitsFor: 'client' | 'provider' = 'client'

  constructor(options: UploadOptions, ports: UploadPorts) {
    this.#options = options
    this.#ports = ports
    this.#deadline = new Deadline(() => this.#timeOut())
    options.deadlines.add(this.#deadline)
  }

  /** The client has sent all of it. */
  get complete(): boolean {
    return this.#state === 'complete'
  }

  /** Of the form, as far as they were found before it went on. */
  get fields(): readonly FormField[] {
    return this.#options.scanner?.fields ?? []
  }

  /** Resolves when what must be known has been found, or the upload is over, whatever ended it. */
  hold(): Promise<void> {
    if (this.#options.scanner === null) return Promise.resolve()
    return new Promise((resolve) => {
      this.#holding = resolve
      this.#resume()
    })
  }

  /** As long as the body will be with the change made; null when that is not known. */
  length(change: UploadChange | null): number | null {
    const { declared } = this.#options
    const known = this.#state === 'complete' ? this.received : declared
    if (known === null || change === null) return known
    return known - (change.end - change.start) + Buffer.byteLength(change.text)
  }

  /** For one attempt, which replaces the one before. The change lies within what is held. */
  open(change: UploadChange | null, watcher: UploadWatcher): UploadBody {
    this.#body?.destroy()
    const held = this.#held.list()
    const pieces = change === null ? held : replaceSpan(held, change.start, change.end, Buffer.from(change.text))
    this.#watcher = watcher
    this.#begun = true
    this.#body = new UploadBody(pieces, {
      next: (body) => this.#next(body),
      sent: () => watcher.sent(),
      abandoned: (body) => this.#drop(body),
    })
    return this.#body
  }

  /** Nobody wants more of it: a hold ends, and what still comes is taken in unread, bounded, so that the client gets to its answer. */
  close(): void {
    const { request, deadlines, watch } = this.#options
    if (!this.#begun && this.#state !== 'closed') watch?.unsent?.()
    const unended = ['unread', 'open', 'rejected'].includes(this.#state)
    this.#finish('closed')
    this.#body?.destroy()
    this.#held = new Pieces()
    if (!unended || request.complete || request.destroyed) return
    discardBody(request, deadlines)
    request.resume()
  }

  #receive = (chunk: Buffer): void => {
    const { limit, scanner, chunks, watch, keepHead } = this.#options
    this.received += chunk.length
    this.#ports.received(this.received)
    chunks.passed(chunk.length)
    if (this.received > limit) return this.#reject({ tooLarge: this.received })
    if (scanner !== null) {
      scanner.push(chunk)
      const wrong = this.#validate(scanner)
      if (wrong !== null) return this.#reject(wrong)
    }
    watch?.add(chunk)
    if (keepHead && this.head.length < headBytes) this.head = Buffer.concat([this.head, chunk.subarray(0, headBytes)])
    if (this.#holding !== null) return this.#hold(chunk)
    if (this.#keeps(chunk)) this.#held.add(chunk)
    else this.#spend()
    this.#feed(chunk)
  }

  #hold(chunk: Buffer): void {
    const { heldLimit, fields } = this.#options
    this.#held.add(chunk)
    this.#arm('client')
    if (this.#knowsEnough()) this.#release()
    else if (this.#held.size > heldLimit) this.#reject(neededMissing(fields.needed, heldLimit))
    else if (!this.#ports.reserve(this.#held.size)) this.#reject(outOfMemory())
  }

  /** All of it, or what is needed and as much as is kept anyway. */
  #knowsEnough(): boolean {
    const { fields } = this.#options
    const found = (name: string) => this.fields.some((field) => field.name === name)
    if (!fields.needed.every(found)) return false
    return this.#held.size >= keptBytes || [...fields.early, ...fields.read].every(found)
  }

  #validate({ wrong, fields }: FormScanner): Fault | null {
    const { needed, early } = this.#options.fields
    if (wrong !== null) return fault('invalid_request', `The body is not a form as its content-type says: ${wrong}.`)
    const flowing = this.#holding === null
    for (const [offset, { name }] of fields.slice(this.#known).entries()) {
      const before = fields.slice(0, this.#known + offset)
      if (needed.includes(name) && before.some((field) => field.name === name))
        return fault('invalid_request', `\`${name}\` is given twice; send it once.`, { param: name })
      if (flowing && (early.includes(name) || early.includes(rootForm(name))))
        return fault('invalid_request', `\`${name}\` comes too late in the form; send it before the file.`, {
          param: name,
        })
    }
    this.#known = fields.length
    return null
  }

  #end = (): void => {
    const { scanner, watch } = this.#options
    scanner?.end()
    watch?.end()
    const wrong = scanner === null ? null : this.#validate(scanner)
    if (wrong !== null) return this.#reject(wrong)
    this.#finish('complete')
    this.#ports.complete()
    this.#body?.finish()
  }

  /** After the end, as every time, it says nothing new; without a listener for `error`, Node emits none. */
  #closed = (): void => {
    this.#finish('disconnected')
    this.#ports.disconnected()
    this.#body?.destroy()
  }

  #reject(reason: Fault | TooLarge): void {
    this.#options.request.pause()
    // Whoever waits for a hold finds the reason there.
    this.#ports.reject(reason)
    this.#finish('rejected')
  }

  /** Whether the chunk may be kept besides going up. */
  #keeps(chunk: Buffer): boolean {
    if (this.spent || (this.#options.declared ?? 0) > keptBytes) return false
    const size = this.#held.size + chunk.length
    return size <= keptBytes && this.#ports.reserve(size)
  }

  #spend(): void {
    if (this.spent) return
    this.spent = true
    this.#held = new Pieces()
    this.#ports.release()
  }

  #feed(chunk: Buffer): void {
    if (this.#body?.push(chunk) === false) this.#pause()
    else this.#arm('client')
  }

  /** The body has handed over all that it was given. */
  #next(body: UploadBody): void {
    if (body !== this.#body) return
    if (this.#state === 'complete') body.finish()
    else if (this.#state === 'unread' || this.#state === 'open') this.#resume()
  }

  /** The attempt is over. */
  #drop(body: UploadBody): void {
    if (body !== this.#body) return
    this.#body = null
    this.#watcher = null
    if (this.#state !== 'open') return
    this.#options.request.pause()
    this.#deadline.at = Number.POSITIVE_INFINITY
  }

  #resume(): void {
    const { request } = this.#options
    this.#arm('client')
    if (this.#state === 'unread') {
      this.#state = 'open'
      // `data` first: it is what invites a client that waits to be asked (`Expect: 100-continue`).
      request.on('data', this.#receive).on('end', this.#end).on('close', this.#closed)
    }
    request.resume()
  }

  #pause(): void {
    this.#options.request.pause()
    this.#arm('provider')
  }

  #release(): void {
    const resolve = this.#holding
    this.#holding = null
    if (resolve === null) return
    this.#options.request.pause()
    this.#deadline.at = Number.POSITIVE_INFINITY
    resolve()
  }

  #arm(waitsFor: 'client' | 'provider'): void {
    this.#waitsFor = waitsFor
    const { betweenChunksMs } = this.#options
    const limit = waitsFor === 'client' ? betweenChunksMs : (this.#watcher?.stallMs ?? betweenChunksMs)
    this.#deadline.at = performance.now() + limit
  }

  #timeOut(): void {
    if (this.#waitsFor === 'provider') this.#watcher?.stalled()
    else this.#reject(fault('invalid_request', 'The body did not arrive in time; send it again.'))
  }

  #finish(state: 'complete' | 'rejected' | 'disconnected' | 'closed'): void {
    const { request, deadlines } = this.#options
    this.#state = state
    deadlines.remove(this.#deadline)
    request.off('data', this.#receive).off('end', this.#end).off('close', this.#closed)
    this.#release()
  }
}

function neededMissing(needed: readonly string[], limit: number): Fault {
  const names = needed.map((name) => `\`${name}\``).join(' and ')
  return fault(
    'request_too_large',
    `${names} did not stand within the first ${describeSize(limit)} of the form; send ${names} before the file.`,
    { param: needed[0] ?? 'model' },
  )
}
