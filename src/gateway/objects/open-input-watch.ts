import { createHash } from 'node:crypto'
import { type FormPart, FormScanner, type PartSink, readBoundary } from '../../core/form-scan.ts'
import type { BatchInput } from '../../core/stored-object.ts'
import { type LineReader, lineReaders } from '../../lanes/line-readers.ts'
import type { Arrival } from '../request/arrival.ts'
import type { RequestCaller } from '../request/call.ts'
import { scopeOf } from './find-owner.ts'
import { HeldParts } from './held-parts.ts'
import { InputScan } from './input-scan.ts'
import type { InputWatch } from './input-watch.ts'

/** For an upload that may be a batch's input file; null where its lines cannot be seen. */
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

/** The whole file in one call, without anything about it. */
function isRaw(arrival: Arrival): boolean {
  return arrival.header('x-goog-upload-protocol') === 'raw'
}

/** A part of a file that comes in several calls. Source: wire/lanes.md, section 3.4. */
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

  /** `part`: it is one of several. */
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

  /** Known is only a file with which no other call went on meanwhile. */
  async #finish(parts: HeldParts, input: BatchInput | null): Promise<BatchInput | null> {
    return input !== null && (await parts.give(null)) ? input : null
  }

  async #hold(parts: HeldParts): Promise<null> {
    await parts.give(this.#scan.hold())
    return null
  }
}

/** A line of a file for evals: what is asked of it stands in the run. */
const readItem: LineReader = (line) => ({
  models: [],
  objects: [],
  ask: { model: null, bytes: line.length, output: 0 },
})

/** In any other, parsers may read another name. */
const plainName = /^[\w.[\]-]+$/

/** A form with one file. What the file is for may stand behind it. */
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
    // Which one the provider takes, nobody knows here.
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

/** Vendors of the same format have words of their own that begin so. */
function isForBatches({ value }: { value: string }): boolean {
  return value.startsWith('batch')
}

/** Of no batch: its lines are counted, for the runs that name it. */
function isForEvals({ value }: { value: string }): boolean {
  return value === 'evals'
}
