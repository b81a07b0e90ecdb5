import { createHash } from 'node:crypto'
import { type FormPart, FormScanner, type PartSink, readBoundary } from '../../core/bytes/form-scan.ts'
import type { BatchInput } from '../../core/objects/batch-input.ts'
import { type LineReader, lineReaders } from '../../lanes/line-readers.ts'
import type { Arrival } from '../request/arrival.ts'
import type { RequestCaller } from '../request/call.ts'
import { scopeOf } from './find-owner.ts'
import { HeldParts } from './held-parts.ts'
import { InputScan } from './input-scan.ts'
import type { InputWatch } from './input-watch.ts'

/** Reads an upload that may be a batch's input file; null if its lines cannot be read. */
export async function openInputWatch(arrival: Arrival, caller: RequestCaller): Promise<InputWatch | null> {
  const encoding = arrival.header('content-encoding') ?? 'identity'
  if (encoding !== 'identity') return null
  const reader = lineReaders[caller.lane.name]
  if (reader === undefined) return null
  if (caller.pin?.once === true) return await openPart(arrival, caller, caller.pin.providerId, reader)
  if (caller.match.endpoint.requestForms.includes('bytes'))
    return isRaw(arrival) ? new FileInput(new InputScan(reader)) : null
  const boundary = readBoundary(arrival.request.headers['content-type'] ?? '')
  return boundary === null ? null : new FormInput(boundary, new InputScan(reader))
}

/** Whether the body is the whole file, without metadata. */
function isRaw(arrival: Arrival): boolean {
  return arrival.header('x-goog-upload-protocol') === 'raw'
}

/** One part of a file that arrives in several calls. Source: wire/lanes.md, section 3.4. */
async function openPart(
  arrival: Arrival,
  { key, match, query }: RequestCaller,
  providerId: string,
  reader: LineReader,
): Promise<InputWatch | null> {
  const commands = (arrival.header('x-goog-upload-command') ?? '')
    .split(',')
    .map((command) => command.trim().toLowerCase())
  const final = commands.includes('finalize')
  if (!final && !commands.includes('upload')) return null
  const name = createHash('sha256').update(`${providerId} ${match.path}${query}`).digest('base64url')
  const offset = Number(arrival.header('x-goog-upload-offset') ?? 0)
  const parts = new HeldParts(arrival, scopeOf(key), name)
  const before = await parts.take(Number.isSafeInteger(offset) ? offset : -1)
  return before === null ? null : new FileInput(new InputScan(reader, before.held), { parts, final })
}

class FileInput implements InputWatch {
  readonly #scan: InputScan
  readonly #part: { parts: HeldParts; final: boolean } | null
  #whole = false

  /** `part`: this is one of several parts. */
  constructor(scan: InputScan, part: { parts: HeldParts; final: boolean } | null = null) {
    this.#scan = scan
    this.#part = part
  }

  add(chunk: Buffer): void {
    this.#scan.add(chunk)
  }

  end(): void {
    this.#whole = true
  }

  unsent(): void {
    this.#part?.parts.leave()
  }

  taken(): Promise<BatchInput | null> | BatchInput | null {
    if (!this.#whole) return null
    if (this.#part === null) return this.#scan.end()
    const { parts, final } = this.#part
    return final ? this.#finish(parts, this.#scan.end()) : this.#hold(parts)
  }

  /** The file is only known if no other call continued the upload at the same time. */
  async #finish(parts: HeldParts, input: BatchInput | null): Promise<BatchInput | null> {
    return input !== null && (await parts.give(null)) ? input : null
  }

  async #hold(parts: HeldParts): Promise<null> {
    await parts.give(this.#scan.hold())
    return null
  }
}

/** A line of a file for evals. The run, not the line, says what is asked. */
const readItem: LineReader = (line) => ({
  models: [],
  objects: [],
  ask: { model: null, bytes: line.length, output: 0 },
})

/** Parsers may disagree on any other name. */
const plainName = /^[\w.[\]-]+$/

/** A form with one file. Its purpose may follow the file. */
class FormInput implements InputWatch, PartSink {
  readonly #form: FormScanner
  readonly #scan: InputScan
  readonly #items = new InputScan(readItem)
  #files = 0
  #inFile = false
  #whole = false

  constructor(boundary: string, scan: InputScan) {
    this.#form = new FormScanner(boundary, ['purpose'], this)
    this.#scan = scan
  }

  add(chunk: Buffer): void {
    this.#form.push(chunk)
  }

  end(): void {
    this.#form.end()
    this.#whole = true
  }

  begin({ name, isFile, encoded }: FormPart): void {
    if (!plainName.test(name)) this.#scan.refuse('a part of its form has an odd name')
    this.#inFile = isFile || /^file/i.test(name)
    if (!this.#inFile) return
    this.#files++
    // It is unknown which of several files the provider uses.
    if (this.#files > 1) this.#scan.refuse('it came in a form with more than one file')
    if (encoded) this.#scan.refuse('it came in an encoding')
  }

  bytes(chunk: Buffer): void {
    if (!this.#inFile) return
    if (this.#mayBe(isForBatches)) this.#scan.add(chunk)
    if (this.#mayBe(isForEvals)) this.#items.add(chunk)
  }

  taken(): BatchInput | null {
    const { wrong, fields } = this.#form
    if (!this.#whole || wrong !== null || this.#files === 0) return null
    if (fields.some(isForBatches)) return this.#scan.end()
    const items = fields.some(isForEvals) ? this.#items.end() : null
    return items === null ? null : { ...items, unread: items.unread ?? 'it was uploaded for evals' }
  }

  #mayBe(isFor: typeof isForBatches): boolean {
    const { fields } = this.#form
    return fields.length === 0 || fields.some(isFor)
  }
}

/** Other vendors of this format use values that begin with the same word. */
function isForBatches({ value }: { value: string }): boolean {
  return value.startsWith('batch')
}

/** Not a batch's file: its lines are counted for the eval runs that name it. */
function isForEvals({ value }: { value: string }): boolean {
  return value === 'evals'
}
