import { replaceData, SseFramer } from '../../core/bytes/sse.ts'
import type { StreamEvent } from '../../core/bytes/stream-event.ts'
import { type Fault, fault } from '../../core/errors.ts'
import { type JsonNode, readNodes } from '../../core/json/json-nodes.ts'
import type { Edit } from '../../core/json/json-scan.ts'
import { applyEdits } from '../../lanes/patch-body.ts'
import { type ArgumentsScan, scanFor, shortestArgument } from '../../policy/content/arguments-scan.ts'
import { type ScanContext, TextScan } from '../../policy/content/text-scan.ts'
import type { AnswerStage, Passed, StagePass } from '../answer/stage.ts'
import { type Leg, notePatch } from '../upstream/leg.ts'
import { type AnswerEvent, readAnswerEvent, type StreamedPiece } from './answer-event.ts'
import { type CallContent, failedRule } from './call-content.ts'
import { type FoundTexts, TextFinder } from './content-texts.ts'
import { mayMatch } from './may-match.ts'
import { RepeatedEvent } from './repeated-event.ts'
import { finishSliced, pushPieces, type ScanSteps, StreamWork, scanSliced, scanWhole, WorkTurn } from './scan-sliced.ts'

/** A text of a streamed answer that has not ended. */
interface OpenText {
  piece: StreamedPiece
  /** The event with its last piece. */
  event: StreamEvent
  scan: TextScan | ArgumentsScan
  /** A tool must not be called before its arguments have been checked: they wait here. null: the text is sent as it comes. */
  waiting: string | null
  /** Bytes and characters kept for it, in addition to `waiting`. */
  kept: number
}

/** The call that the answer belongs to. */
type AnsweredCall = Pick<Leg, 'call' | 'match'>

/** The most open texts and held characters; no real answer has more. A text costs this much in addition to what is held for it. */
const textCost = 8192
const mostKept = 16 * 1024 * 1024
const mostWaiting = 1024 * 1024

/** Applies content rules to an answer, and puts back what placeholders of the prompt stand for. */
export class ContentStage implements AnswerStage {
  readonly faultIfUnread: Fault | null
  readonly #leg: AnsweredCall
  readonly #content: CallContent
  readonly #context: ScanContext & { refused: Fault | null }
  readonly #openTexts = new Map<string, OpenText>()
  readonly #repeated = new RepeatedEvent()
  /** Some block rule applies to the answer. */
  readonly #mayBlock: boolean
  /** Texts may change, so members that repeat them in another form must be removed. */
  readonly #mayHide: boolean
  readonly #work: StreamWork
  #at = 'the answer'
  readonly #flush: ((data: Buffer) => void) | null
  #waiting = 0
  #kept = 0

  /** `flush` gets events that must be sent before the current one; null: they are sent together with it. */
  constructor(leg: AnsweredCall, content: CallContent, flush: ((data: Buffer) => void) | null = null, restores = true) {
    this.#leg = leg
    this.#flush = flush
    this.#work = new StreamWork(() => leg.call.abort.aborted)
    this.#content = content
    this.#context = content.scanOf('answer', () => this.#at, restores)
    const { answer } = content.rules
    this.#mayBlock = answer.some(({ rule }) => rule.action === 'block')
    this.#mayHide = answer.some(({ rule }) => rule.action !== 'flag')
    const { responseForm } = leg.match.endpoint
    const isText = responseForm === 'json' || responseForm === 'json-or-text'
    this.faultIfUnread = isText && answer.length > 0 ? unreadable : null
  }

  event(event: StreamEvent, pass: Buffer | null): StagePass {
    const repeated = pass === event.bytes && event.part === 'whole' ? this.#repeated.read(event) : undefined
    const open = repeated == null ? undefined : this.#openTexts.get(repeated.textId)
    if (repeated == null || open === undefined || open.waiting !== null || !this.#work.allows(repeated.text.length))
      return this.#run(this.#event(event, pass, repeated))
    try {
      return this.#flow(event, repeated, open)
    } catch (error) {
      return failedRule('answer', error)
    }
  }

  /** The common case: an event like the one before, with a short piece of an open text. */
  #flow(event: StreamEvent, piece: StreamedPiece, open: OpenText): Buffer | Fault {
    open.piece = piece
    open.event = event
    this.#at = piece.path
    const text = this.#work.do(() => open.scan.push(piece.text))
    this.#count(open)
    if (this.#context.refused !== null) return this.#context.refused
    if (text === piece.text) return event.bytes
    return withData(event, this.#patched(event.data, [{ span: piece.node, text: JSON.stringify(text) }]))
  }

  /** On a stream without an end mark, the open texts end with it. */
  end(): StagePass {
    return this.#run(this.#endStream())
  }

  *#endStream(): ScanSteps<Passed> {
    const left = yield* this.#endAll(() => true)
    return this.#context.refused ?? (left.length === 0 ? null : Buffer.concat(left))
  }

  /** The slowest pattern takes seconds for an event of a megabyte. */
  #run(steps: ScanSteps<Passed>): StagePass {
    const failed = (error: unknown) => failedRule('answer', error)
    try {
      const passing = this.#work.run(steps)
      return passing instanceof Promise ? passing.catch(failed) : passing
    } catch (error) {
      return failed(error)
    }
  }

  whole(body: Buffer): Buffer | Promise<Buffer | Fault> {
    if (this.#context.restorer() === null && !mayMatch(body, 'answer', this.#content.rules)) return body
    return this.#whole(body)
  }

  /** Yields to other requests: the slowest pattern takes seconds for a megabyte. */
  async #whole(body: Buffer): Promise<Buffer | Fault> {
    try {
      const root = readNodes(body)
      const edits = root === null ? await this.#plain(body) : await this.#slicedEdits(body, root)
      return this.#context.refused ?? this.#patched(body, edits)
    } catch (error) {
      return failedRule('answer', error)
    }
  }

  /** `read`: the piece of a repeated event, as `RepeatedEvent` gives it; undefined: not determined yet. */
  *#event(event: StreamEvent, pass: Buffer | null, read: StreamedPiece | null | undefined): ScanSteps<Passed> {
    if (event.part !== 'whole' && event.part !== 'cut') return unreadable
    // Hidden: the gateway asked for this event itself, and it has no text.
    if (pass === null) return null
    const passed = pass === event.bytes ? event : frameAgain(event, pass)
    const { data } = passed
    const repeated = read === undefined ? this.#repeated.read(passed) : read
    if (repeated !== null)
      return yield* this.#write(passed, pass, { pieces: [repeated], ends: null, unseen: false }, [])
    const root = data.length === 0 ? null : readNodes(data)
    if (root === null) return yield* this.#endMark(passed)
    const reading = readAnswerEvent(data, root, event.name)
    if (reading.unseen) {
      this.#noteUnseen('audio is not text')
      return yield* this.#write(passed, pass, reading, [])
    }
    const known = new Set<number>(reading.pieces.map(({ node }) => node.start))
    const { edits, others } = yield* this.#wholeEdits(data, root, known)
    const [piece, ...morePieces] = reading.pieces
    const isPlain = !others && morePieces.length === 0 && reading.ends === null
    if (isPlain && piece !== undefined && !piece.isLast) this.#repeated.remember(passed, piece)
    return yield* this.#write(passed, pass, reading, edits)
  }

  /** The event with its texts as the rules leave them. */
  *#write(passed: StreamEvent, pass: Buffer, reading: AnswerEvent, edits: Edit[]): ScanSteps<Buffer | Fault> {
    const { data } = passed
    const before = yield* this.#streamedEdits(passed, reading, edits)
    if (this.#context.refused !== null) return this.#context.refused
    const patched = this.#patched(data, edits)
    const bytes = patched === data ? pass : withData(passed, patched)
    return before.length === 0 ? bytes : Buffer.concat([...before, bytes])
  }

  /** An event that is not JSON: a comment, a closing bracket, `[DONE]`. Half an event at a broken end is dropped. */
  *#endMark({ bytes, data, part }: StreamEvent): ScanSteps<Buffer | Fault> {
    const isEnd = data.length > 0 || bytes.includes(closeBracket)
    if (data.length > 0 && (part === 'cut' || !data.equals(doneMark))) return unreadable
    const left = isEnd ? yield* this.#endAll(() => true) : []
    return this.#context.refused ?? (left.length === 0 ? bytes : Buffer.concat([...left, bytes]))
  }

  /** Adds the changed pieces to `edits`. Returns the events that must be sent first. */
  *#streamedEdits(event: StreamEvent, { pieces, ends }: AnswerEvent, edits: Edit[]): ScanSteps<Buffer[]> {
    const written = new Map<OpenText, { piece: StreamedPiece; text: string }>()
    const add = ({ piece, text }: { piece: StreamedPiece; text: string }) => {
      if (text !== piece.text) edits.push({ span: piece.node, text: JSON.stringify(text) })
    }
    for (const piece of pieces) {
      const open = this.#openTextOf(piece, event)
      const before = written.get(open)
      if (before !== undefined) add(before)
      this.#at = piece.path
      const text = yield* this.#push(open, piece.text)
      written.set(open, { piece, text: piece.isLast ? text + (yield* this.#end(open)) : text })
    }
    const flushed = ends === null ? [] : yield* this.#endAll(ends, written)
    for (const one of written.values()) add(one)
    return flushed
  }

  #openTextOf(piece: StreamedPiece, event: StreamEvent): OpenText {
    const known = this.#openTexts.get(piece.textId)
    if (known !== undefined) {
      known.piece = piece
      known.event = event
      return known
    }
    const scan = scanFor(piece, this.#context)
    const open: OpenText = { piece, event, scan, waiting: this.#mayBlock && piece.isTool ? '' : null, kept: 0 }
    this.#openTexts.set(piece.textId, open)
    return open
  }

  *#push(open: OpenText, text: string): ScanSteps<string> {
    if (open.waiting === null) {
      const passed = yield* pushPieces(text, open.scan)
      this.#count(open)
      return passed
    }
    open.waiting += text
    this.#waiting += text.length
    if (this.#waiting > mostWaiting) throw new Error('the arguments of its tool calls are too long')
    this.#count(open)
    return ''
  }

  /** The last event is kept together with what is held back, and a provider chooses how large both are. */
  #count(open: OpenText): void {
    this.#kept -= open.kept
    open.kept = textCost + open.event.bytes.length + open.scan.held
    this.#kept += open.kept
    if (this.#kept > mostKept) throw new Error('it has too many texts at once')
  }

  /** The rest of the text. */
  *#end(open: OpenText): ScanSteps<string> {
    this.#openTexts.delete(open.piece.textId)
    this.#at = open.piece.path
    const waited = open.waiting === null ? '' : yield* pushPieces(open.waiting, open.scan)
    this.#waiting -= open.waiting?.length ?? 0
    this.#kept -= open.kept
    return waited + open.scan.end()
  }

  /** Ends texts. The rest of a text goes into the current event if that has a piece of it, else into an event of its own. */
  *#endAll(
    ends: (piece: StreamedPiece) => boolean,
    written: Map<OpenText, { piece: StreamedPiece; text: string }> = new Map(),
  ): ScanSteps<Buffer[]> {
    const flushed: Buffer[] = []
    for (const open of [...this.#openTexts.values()]) {
      if (!ends(open.piece)) continue
      const { event, piece } = open
      const left = yield* this.#end(open)
      yield
      const here = written.get(open)
      if (here !== undefined) here.text += left
      else if (left !== '' && this.#flush !== null) this.#flush(piece.flush(left))
      else if (left !== '') flushed.push(framed(event, piece.flush(left)))
    }
    return flushed
  }

  /** Edits for texts that are complete. `others`: there was something besides the known texts. */
  *#wholeEdits(
    data: Buffer,
    root: JsonNode,
    known: ReadonlySet<number>,
  ): ScanSteps<{ edits: Edit[]; others: boolean }> {
    const finder = this.#finder(data, root)
    while (finder.lookOn()) yield
    const { texts, unseen, logprobs } = this.#noted(finder.found)
    const edits: Edit[] = this.#hidden(logprobs)
    let others = unseen || logprobs.length > 0
    for (const { node, text, path, isJson } of texts) {
      if (known.has(node.start)) continue
      others = true
      this.#at = path
      const scan = scanFor({ isJson }, this.#context)
      const written = yield* scanWhole(text, scan)
      yield
      if (written !== text) edits.push({ span: node, text: JSON.stringify(written) })
    }
    return { edits, others }
  }

  async #slicedEdits(data: Buffer, root: JsonNode): Promise<Edit[]> {
    const turn = new WorkTurn()
    const finder = this.#finder(data, root)
    await finishSliced(finder, turn)
    const { texts, logprobs } = this.#noted(finder.found)
    const edits: Edit[] = this.#hidden(logprobs)
    for (const { node, text, path, isJson } of texts) {
      this.#at = path
      const scan = scanFor({ isJson }, this.#context)
      const written = await scanSliced(text, scan, turn)
      if (this.#leg.call.abort.aborted || this.#context.refused !== null) return edits
      if (written !== text) edits.push({ span: node, text: JSON.stringify(written) })
    }
    return edits
  }

  #finder(data: Buffer, root: JsonNode): TextFinder {
    return new TextFinder(data, root, 'answer', shortestArgument(this.#context.rules))
  }

  #noted(found: FoundTexts): FoundTexts {
    if (found.unseen) this.#noteUnseen('images, audio and files are not text')
    return found
  }

  #noteUnseen(what: string): void {
    this.#context.refused ??= this.#content.noteUnseen('answer', what)
  }

  #hidden(logprobs: readonly JsonNode[]): Edit[] {
    if (!this.#mayHide) return []
    return logprobs.map((node) => ({ span: node, text: node.kind === 'array' ? '[]' : 'null' }))
  }

  /** For a plain-text answer, such as a transcript or subtitles. */
  async #plain(body: Buffer): Promise<Edit[]> {
    const text = body.toString('utf8')
    const scan = new TextScan(this.#context)
    const written = await scanSliced(text, scan, new WorkTurn())
    return written === text ? [] : [{ span: { start: 0, end: body.length }, text: written }]
  }

  #patched(data: Buffer, edits: readonly Edit[]): Buffer {
    if (edits.length === 0) return data
    notePatch(this.#leg.call, 'Texts of the answer were changed by content rules.')
    return applyEdits(data, edits)
  }
}

const closeBracket = ']'
const doneMark = Buffer.from('[DONE]')

/** The event as an earlier stage or the reader left it. */
function frameAgain(event: StreamEvent, pass: Buffer): StreamEvent {
  if (!isSse(event)) {
    const start = pass.indexOf('{')
    return { ...event, bytes: pass, data: start < 0 ? pass.subarray(0, 0) : pass.subarray(start) }
  }
  const framer = new SseFramer()
  return framer.push(pass)[0] ?? framer.rest() ?? event
}

/** In a JSON array, an event's bytes end with the element. */
function isSse({ bytes }: StreamEvent): boolean {
  return /^(?:\xef\xbb\xbf)?\s*(?:data|event|id|retry|:)/.test(bytes.toString('latin1', 0, 64))
}

function withData(event: StreamEvent, data: Buffer): Buffer {
  if (isSse(event)) return replaceData(event, data)
  return Buffer.concat([event.bytes.subarray(0, event.bytes.length - event.data.length), data])
}

/** An additional event, framed like the one before. */
function framed(event: StreamEvent, data: Buffer): Buffer {
  if (!isSse(event)) return Buffer.concat([Buffer.from(',\n'), data])
  const name = event.name === '' ? '' : `event: ${nameFor(event.name)}\n`
  return Buffer.concat([Buffer.from(`${name}data: `), data, Buffer.from('\n\n')])
}

const nameFor = (name: string) => (name === 'content_block_start' ? 'content_block_delta' : name)

const unreadable = fault(
  'policy_denied',
  'Content rules apply to the answer, but it could not be read: it or one of its events is too large, compressed or malformed. Ask for a shorter answer.',
)
