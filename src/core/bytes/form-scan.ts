/** Finds small text fields in a form (multipart/form-data: RFC 7578, RFC 2046 section 5.1) while its bytes pass. */

import { foldName } from '../watched-names.ts'

/** `start` and `end` are byte offsets of the value within the body. */
export interface FormField {
  name: string
  value: string
  start: number
  end: number
}

/** Gets the parts that are not wanted as fields. Their bytes come in pieces, each valid only during the call. */
export interface PartSink {
  begin(part: FormPart): void
  bytes(chunk: Buffer): void
}

export interface FormPart {
  name: string
  isFile: boolean
  /** A parser may decode it to other bytes. */
  encoded: boolean
}

const lineEnd = Buffer.from('\r\n')
const headersEnd = Buffer.from('\r\n\r\n')
const closing = Buffer.from('--')

/** The longest headers of one part, and the longest wanted field. */
const headerBytes = 16 * 1024
const valueBytes = 4096
const mostFields = 256

/** Name, then a token or a quoted text. */
const parameter = /\s*;\s*([^\s=;"]+)=("(?:[^"\\]|\\.)*"|[^\s;,"]*)/y
const boundaryForm = /^[\w'()+,\-./:=? ]{0,69}[\w'()+,\-./:=?]$/

/** The boundary that a content-type names; null: it is not a form, or does not name exactly one. */
export function readBoundary(contentType: string): string | null {
  const type = /^\s*multipart\/form-data/i.exec(contentType)
  if (type === null) return null
  const parameters = readParameters(contentType.slice(type[0].length))
  const [named, second] = parameters?.filter(([name]) => name === 'boundary') ?? []
  if (named === undefined || second !== undefined) return null
  const [, boundary] = named
  return boundaryForm.test(boundary) ? boundary : null
}

/** Null: not a list of parameters. */
function readParameters(text: string): [name: string, value: string][] | null {
  const found: [string, string][] = []
  parameter.lastIndex = 0
  let end = 0
  for (let match = parameter.exec(text); match !== null; match = parameter.exec(text)) {
    const [, name = '', value = ''] = match
    found.push([name.toLowerCase(), value.startsWith('"') ? value.slice(1, -1) : value])
    end = parameter.lastIndex
  }
  return text.slice(end).trim() === '' ? found : null
}

/**
 * Reads strictly: what was checked here must be what the provider's parser sees, and parsers differ in what they forgive (bare line
 * feeds, padding, folded headers, a boundary inside a part). So whatever two of them could read differently is `wrong`. Holds no more
 * than one part's headers or one wanted value.
 */
export class FormScanner {
  /** The wanted fields that are complete, in order. */
  readonly fields: FormField[] = []
  /** What is wrong with the form, as half a sentence; null: nothing so far. */
  wrong: string | null = null
  readonly #wanted: ReadonlySet<string>
  readonly #delimiter: Buffer
  /**
   * How many bytes are searched again with the next chunk: the delimiter may begin there, and the line end before it
   * belongs to it.
   */
  readonly #lookBehind: number
  #state: 'content' | 'delimiter' | 'headers' | 'epilogue' = 'content'
  /** Bytes that are not processed yet, and the offset of the first. It begins as if an empty line preceded the form. */
  #rest: Buffer = lineEnd
  #offset = -2
  /** The current part: where its content begins, and its name if it is wanted. */
  #contentStart = -2
  #name: string | null = null
  #parts = 0
  readonly #sink: PartSink | null
  /** Offset up to which the content of a part has been passed to the sink; -1: no part is. */
  #passed = -1

  constructor(boundary: string, wanted: Iterable<string>, sink: PartSink | null = null) {
    this.#wanted = new Set(wanted)
    this.#sink = sink
    this.#delimiter = Buffer.from(`--${boundary}`, 'latin1')
    this.#lookBehind = this.#delimiter.length + 1
  }

  push(chunk: Buffer): void {
    if (this.wrong !== null || chunk.length === 0 || this.#passesBy(chunk)) return
    const window = Buffer.concat([this.#rest, chunk])
    let at = 0
    for (let next = 0; next >= 0 && this.wrong === null; ) {
      at = next
      next = this.#step(window, at)
    }
    const keep = this.#needed(window, at)
    this.#offset += keep
    // A copy, since a view would keep the whole chunk alive.
    this.#rest = Buffer.from(window.subarray(keep))
  }

  /** No more bytes come. */
  end(): void {
    if (this.#state !== 'epilogue') this.wrong ??= this.#parts === 0 ? 'it has no part' : 'its end is missing'
  }

  /** Nearly all chunks of a file contain no boundary: they are searched without being copied. */
  #passesBy(chunk: Buffer): boolean {
    if (this.#name !== null || this.#parts === 0) return false
    if (this.#state !== 'content' && this.#state !== 'epilogue') return false
    const seam = Buffer.concat([this.#rest, chunk.subarray(0, this.#lookBehind)])
    if (seam.includes(this.#delimiter) || chunk.includes(this.#delimiter)) return false
    if (this.#passed >= 0) {
      const end = this.#offset + this.#rest.length + chunk.length - this.#lookBehind
      this.#pass(this.#rest, this.#offset, end)
      this.#pass(chunk, this.#offset + this.#rest.length, end)
    }
    const last = chunk.length > this.#lookBehind ? chunk : Buffer.concat([this.#rest, chunk])
    const end = this.#offset + this.#rest.length + chunk.length
    this.#rest = Buffer.from(last.subarray(-this.#lookBehind))
    this.#offset = end - this.#rest.length
    return true
  }

  /** Where to continue; negative: more bytes are needed. */
  #step(window: Buffer, at: number): number {
    switch (this.#state) {
      case 'delimiter':
        return this.#endDelimiter(window, at)
      case 'headers':
        return this.#readHeaders(window, at)
      default:
        return this.#findDelimiter(window, at)
    }
  }

  #findDelimiter(window: Buffer, at: number): number {
    const found = window.indexOf(this.#delimiter, at)
    const end = this.#offset + (found < 0 ? window.length - this.#lookBehind : found - 2)
    if (this.#parts === 0 && end > 0) return this.#refuse('it does not begin with its boundary')
    if (this.#name !== null && end - this.#contentStart > valueBytes)
      return this.#refuse(`the field ${this.#name} is longer than ${valueBytes} bytes`)
    if (this.#passed >= 0) this.#pass(window, this.#offset, end)
    if (found < 0) return -1
    const ownLine = end >= this.#contentStart && window.subarray(found - 2, found).equals(lineEnd)
    if (!ownLine || this.#state === 'epilogue') return this.#refuse('its boundary stands where no part begins')
    if (this.#name !== null) this.#addField(this.#name, window.subarray(this.#contentStart - this.#offset, found - 2))
    this.#name = null
    this.#passed = -1
    this.#state = 'delimiter'
    return found + this.#delimiter.length
  }

  /** Passes on the part's content in these bytes, up to `end`. */
  #pass(bytes: Buffer, offset: number, end: number): void {
    const from = this.#passed - offset
    const to = Math.min(end - offset, bytes.length)
    if (from < 0 || to <= from) return
    this.#sink?.bytes(bytes.subarray(from, to))
    this.#passed = offset + to
  }

  #addField(name: string, value: Buffer): void {
    const start = this.#contentStart
    this.fields.push({ name, value: value.toString('utf8'), start, end: start + value.length })
    if (this.fields.length > mostFields) this.#refuse(`it has more than ${mostFields} fields`)
  }

  #endDelimiter(window: Buffer, at: number): number {
    if (window.length < at + 2) return -1
    const next = window.subarray(at, at + 2)
    this.#parts++
    if (next.equals(closing)) this.#state = 'epilogue'
    else if (next.equals(lineEnd)) this.#state = 'headers'
    else return this.#refuse('its boundary stands where no part begins')
    return at + 2
  }

  #readHeaders(window: Buffer, at: number): number {
    const end = window.indexOf(headersEnd, at)
    if ((end < 0 ? window.length : end) - at > headerBytes)
      return this.#refuse(`the headers of a part are longer than ${headerBytes} bytes`)
    if (end < 0) return -1
    const name = readPartName(window.toString('latin1', at, end), this.#wanted)
    if ('wrong' in name) return this.#refuse(name.wrong)
    this.#name = name.wanted
    this.#contentStart = this.#offset + end + headersEnd.length
    this.#state = 'content'
    if (name.part !== null && this.#sink !== null) {
      this.#sink.begin(name.part)
      this.#passed = this.#contentStart
    }
    return end + headersEnd.length
  }

  /** The first byte of the window that must be kept. `at`: the first one that is not processed. */
  #needed(window: Buffer, at: number): number {
    if (this.#state === 'delimiter' || this.#state === 'headers') return at
    if (this.#name !== null) return this.#contentStart - this.#offset
    // Never before `at`: what was found once must not be found again. But the line end before a boundary may lie there.
    return Math.max(at - 2, window.length - this.#lookBehind, 0)
  }

  #refuse(reason: string): number {
    this.wrong ??= reason
    return -1
  }
}

const harmlessEncodings = ['7bit', '8bit', 'binary']
/** Charsets in which names of fields and models have the same bytes as in ASCII. */
const harmlessAlphabet = /charset="?(?:utf-?8|us-ascii|iso-8859-\d+|windows-125\d)"?\s*$/i

/** `wanted`: the part's name where it is one of those. */
function readPartName(
  block: string,
  wanted: ReadonlySet<string>,
): { wanted: string | null; part: FormPart | null } | { wrong: string } {
  const headers = readHeaderLines(block)
  const [disposition, another] = headers?.filter(([name]) => name === 'content-disposition') ?? []
  if (headers === null || disposition === undefined || another !== undefined)
    return { wrong: 'a part has no headers that name it' }
  const [, type = '', rest = ''] = /^(form-data)(.*)$/i.exec(disposition[1]) ?? []
  const parameters = type === '' ? null : readParameters(rest)
  const [named, second] = parameters?.filter(([name]) => name === 'name' || name === 'name*') ?? []
  if (parameters === null || named === undefined || second !== undefined || named[0] === 'name*')
    return { wrong: 'a part is not named in the usual way' }
  const [, name] = named
  const isFile = parameters.some(([other]) => other.startsWith('filename'))
  const part = { name, isFile, encoded: isEncoded(headers) }
  // Some parsers undo escapes and take a name in other letters for the same, others do not.
  if (!isWanted(wanted, name)) {
    const meant = plain(name)
    const odd = isWanted(wanted, meant) && (!isFile || wanted.has(meant))
    if (odd) return { wrong: `the name ${meant} is escaped or in other letters` }
    // As a list or a map of it, which some parsers make one field of.
    const [root = ''] = meant.split('[', 1)
    const isListed = wanted.has(root) && !wanted.has(rootForm(root))
    return isListed ? { wrong: `the field ${root} is named in brackets` } : { wanted: null, part }
  }
  // Such a field may be a file as well as name one.
  if (isFile) return wanted.has(name) ? { wrong: `the field ${name} is sent as a file` } : { wanted: null, part }
  if (part.encoded) return { wrong: `the field ${name} is encoded` }
  return { wanted: name, part: null }
}

/** The names of members that hold an id; what else is below a root (a URL of an image) may be long. */
const idSegment = /^(?:id|file_id)$/i

/**
 * Matches the whole name, or, if `root*` is wanted, any form with brackets or dots: `root`, `root[]`, `root[0][id]`,
 * `root.file_id`.
 */
function isWanted(wanted: ReadonlySet<string>, name: string): boolean {
  if (wanted.has(name)) return true
  const [root = '', ...segments] = name.split(/[[.]/)
  if (!wanted.has(rootForm(root))) return false
  const inner = segments.map((segment) => segment.replace(/\]$/, '').trim())
  return inner.every((segment) => /^\d*$/.test(segment)) || inner.some((segment) => idSegment.test(segment))
}

export function rootForm(name: string): string {
  return `${name.split(/[[.]/, 1)[0]}*`
}

function isEncoded(headers: readonly [string, string][]): boolean {
  return headers.some(([name, value]) => {
    if (name === 'content-transfer-encoding') return !harmlessEncodings.includes(value.toLowerCase())
    return name === 'content-type' && /charset/i.test(value) && !harmlessAlphabet.test(value)
  })
}

function plain(name: string): string {
  // PHP takes a name in single quotes for one without.
  const unescaped = name.replaceAll(/[\\']/g, '')
  try {
    return foldName(decodeURIComponent(unescaped)).trim()
  } catch {
    return foldName(unescaped).trim()
  }
}

/** Null: a header is folded, has no name, or contains a bare line end. */
function readHeaderLines(block: string): [name: string, value: string][] | null {
  const headers: [string, string][] = []
  for (const line of block.split('\r\n')) {
    const [, name, value] = /^([\w!#$%&'*+.^`|~-]+):([^\r\n\0]*)$/.exec(line) ?? []
    if (name === undefined || value === undefined) return null
    headers.push([name.toLowerCase(), trimBlanks(value)])
  }
  return headers
}

const isBlank = (letter: string | undefined) => letter === ' ' || letter === '\t'

/** Not a regular expression: it could match the blanks before, within and after a value in too many ways. */
function trimBlanks(value: string): string {
  let start = 0
  let end = value.length
  while (start < end && isBlank(value[start])) start++
  while (end > start && isBlank(value[end - 1])) end--
  return value.slice(start, end)
}
