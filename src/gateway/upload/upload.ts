import type { IncomingMessage } from 'node:http'
import { type FormField, type FormScanner, rootForm } from '../../core/bytes/form-scan.ts'
import { Pieces, replaceSpan } from '../../core/bytes/pieces.ts'
import { type Fault, fault } from '../../core/errors.ts'
import { describeSize } from '../../core/units.ts'
import type { FormFields } from '../../lanes/contract.ts'
import type { InputWatch } from '../objects/input-watch.ts'
import { discardBody, type TooLarge } from '../request/body.ts'
import { outOfMemory } from '../request/memory-budget.ts'
import { Deadline, type Deadlines } from '../thread/deadlines.ts'
import type { GcPacer } from '../thread/gc-pacing.ts'
import { UploadBody } from './upload-body.ts'

/** A body up to this size is kept, so that it can be sent again. */
const keptBytes = 1024 * 1024
/** Enough for the fields of a form and the header of its file. */
const headBytes = 8 * 1024
const noBytes = Buffer.alloc(0)

export interface UploadOptions {
  request: IncomingMessage
  /** As announced; null if the body comes in chunks. */
  declared: number | null
  deadlines: Deadlines
  gcPacer: GcPacer
  /** The longest pause of the client between two chunks. */
  betweenChunksMs: number
  /** The most bytes that the body may have. */
  limit: number
  /** The most bytes that are held until the required fields are known. */
  heldLimit: number
  /** null: no fields have to be known. */
  scanner: FormScanner | null
  /** Reads a copy of the bytes as they pass; null: nobody does. */
  watch: Pick<InputWatch, 'add' | 'end' | 'unsent'> | null
  fields: FormFields
  keepHead: boolean
}

/** What an upload reports. Each of `reject`, `disconnected` and `complete` is called at most once. */
export interface UploadPorts {
  /** The number of bytes received so far. */
  received(bytes: number): void
  /** The upload must not continue. */
  reject(reason: Fault | TooLarge): void
  /** The client disconnected before the end. */
  disconnected(): void
  /** The client has sent the whole body. */
  complete(): void
  /** Whether the memory budget allows that many bytes to be held. */
  reserve(bytes: number): boolean
  /** Nothing is held any more. */
  release(): void
}

/** What one attempt wants to know of the upload. */
export interface UploadWatcher {
  /** How long the provider may read nothing. */
  stallMs: number
  /** The last byte has been handed over. */
  sent(): void
  /** The provider has stopped reading. */
  stalled(): void
}

export interface UploadChange {
  start: number
  end: number
  text: string
}

/**
 * A request's body that is sent up while it arrives. It is held until the required fields are known, then flows: the client is read no
 * faster than the provider reads. An attempt gets the held bytes and then the rest. Once bytes were sent that are not kept, no other
 * attempt is possible.
 */
export class Upload {
  /** Bytes received. */
  received = 0
  /** Bytes were sent that are not kept, so the body cannot be sent again. */
  spent = false
  readonly #options: UploadOptions
  readonly #ports: UploadPorts
  readonly #deadline: Deadline
  #held = new Pieces(true)
  /** Resolves `hold()`; null: nothing is being held. */
  #holding: (() => void) | null = null
  #known = 0
  /** The beginning of the body, if its cost is read from there. */
  head = noBytes
  #body: UploadBody | null = null
  /** An attempt has opened the body, whatever its outcome. */
  #begun = false
  #watcher: UploadWatcher | null = null
  #state: 'unread' | 'open' | 'complete' | 'rejected' | 'disconnected' | 'closed' = 'unread'
  /** Which side the time limit applies to. */
  #waitsFor: 'client' | 'provider' = 'client'

  constructor(options: UploadOptions, ports: UploadPorts) {
    this.#options = options
    this.#ports = ports
    this.#deadline = new Deadline(() => this.#timeOut())
    options.deadlines.add(this.#deadline)
  }

  /** The client has sent the whole body. */
  get complete(): boolean {
    return this.#state === 'complete'
  }

  /** The form fields found so far. */
  get fields(): readonly FormField[] {
    return this.#options.scanner?.fields ?? []
  }

  /** Resolves when the required fields are known, or the upload has ended for any reason. */
  hold(): Promise<void> {
    if (this.#options.scanner === null) return Promise.resolve()
    return new Promise((resolve) => {
      this.#holding = resolve
      this.#resume()
    })
  }

  /** The body's length after the change; null: unknown. */
  length(change: UploadChange | null): number | null {
    const { declared } = this.#options
    const known = this.#state === 'complete' ? this.received : declared
    if (known === null || change === null) return known
    return known - (change.end - change.start) + Buffer.byteLength(change.text)
  }

  /** Opens the body for an attempt, replacing the one before. The change must be within the held bytes. */
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

  /** Nobody needs the rest: a hold ends, and what still arrives is discarded, up to a bound, so that the client can read the answer. */
  close(): void {
    const { request, deadlines, watch } = this.#options
    if (!this.#begun && this.#state !== 'closed') watch?.unsent?.()
    const unended = ['unread', 'open', 'rejected'].includes(this.#state)
    this.#finish('closed')
    this.#body?.destroy()
    if (!this.#begun) this.#held.free()
    this.#held = new Pieces()
    if (!unended || request.complete || request.destroyed) return
    discardBody(request, deadlines)
    request.resume()
  }

  #receive = (chunk: Buffer): void => {
    const { limit, scanner, gcPacer, watch, keepHead } = this.#options
    this.received += chunk.length
    this.#ports.received(this.received)
    gcPacer.passed(chunk.length)
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

  /** Whether all fields were found, or the required ones within as many bytes as are kept anyway. */
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

  /** Also fires after a normal end, when it has no effect. Without a listener for `error`, Node emits none. */
  #closed = (): void => {
    this.#finish('disconnected')
    this.#ports.disconnected()
    this.#body?.destroy()
  }

  #reject(reason: Fault | TooLarge): void {
    this.#options.request.pause()
    // Reported first: whoever waits for the hold reads the reason there.
    this.#ports.reject(reason)
    this.#finish('rejected')
  }

  /** Whether the chunk may be kept as well as sent. */
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

  /** The body has handed over everything that it was given. */
  #next(body: UploadBody): void {
    if (body !== this.#body) return
    if (this.#state === 'complete') body.finish()
    else if (this.#state === 'unread' || this.#state === 'open') this.#resume()
  }

  /** The attempt has ended. */
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
      // `data` comes first: it asks a client that waits (`Expect: 100-continue`) for the body.
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
