import { type Fault, fault } from '../../core/errors.ts'
import { type Span, scanObject, shortValue } from '../../core/json/json-scan.ts'
import { asText, readValue } from '../../core/json/json-value.ts'
import { nextTurn } from '../../core/threads/slices.ts'
import { applyEdits, promptEdits } from '../../lanes/patch-body.ts'
import { type ContentPolicy, readyRules } from '../../policy/content/compile.ts'
import { highestIn, longestPlaceholder, noteNumbers, Placeholders } from '../../policy/content/placeholders.ts'
import type { Passed } from '../answer/stage.ts'
import type { Call } from '../request/call.ts'
import { notePatch, promptRedacted } from '../upstream/leg.ts'
import { CallContent, failedRule } from './call-content.ts'
import { ContentStage } from './content-stage.ts'
import { inspectBody } from './inspect-prompt.ts'
import { mayMatch } from './may-match.ts'
import { noteUnseen } from './note-unseen.ts'

/** The frames to send to the client in place of one, in order. A fault: neither it nor the rest of its response may be sent. */
export type PassedFrames = readonly Buffer[] | Fault

/** Responses that follow one another: those requested with the same `stream_id`, or with none. */
interface Stream {
  stage: ContentStage
  /** Bytes to send before the current event. */
  before: Buffer[]
  /** How many responses are in progress. */
  running: number
  /** A response was refused: nothing passes until the next one begins. */
  withheld: boolean
  /** There is something to search for, or to put back. */
  reads: boolean
}

/** Frames whose texts are known: they have the members of a call's body. */
const prompts = new Set(['response.create', 'response.steer'])
const ends = new Set(['response.completed', 'response.incomplete', 'response.failed', 'response.done'])
/** A larger event is rejected, as in an HTTP stream. */
const mostBytes = 1024 * 1024
/** More placeholder-like texts than any real conversation has; beyond it, all are forgotten. */
const mostLabels = 1000
/** More than any client uses. */
const mostStreams = 100
/** How much is scanned at once. */
const windowBytes = 64 * 1024
const none: ReturnType<typeof highestIn> = () => 0
const nothing: PassedFrames = []

/**
 * Content rules on a connection whose messages are those of HTTP. Each client frame is checked like the body of a call, each provider frame
 * like an event of a stream. All turns share their placeholders, since the provider remembers earlier turns.
 */
export class SocketContent {
  readonly #call: Call
  readonly #streams = new Map<string, Stream>()
  /** By label: the highest number of a placeholder-like text that the client itself wrote. */
  readonly #written = new Map<string, number>()
  readonly #placeholders = new Placeholders((label) => Math.max(this.#highest(label), this.#written.get(label) ?? 0))
  /** For the current prompt. */
  #highest = none
  /** null: the rules are not compiled yet. */
  #content: CallContent | null = null

  constructor(call: Call) {
    this.#call = call
  }

  /** Returns a client's frame as it may be sent up, under the present rules. `models`: spans that are not text. */
  async inspect(policies: readonly ContentPolicy[], frame: Buffer, models: readonly Span[]): Promise<Buffer | Fault> {
    const content = await this.#use(policies)
    if (content.rules.prompt.length === 0) return frame
    this.#placeholders.trim()
    this.#highest = highestIn(frame)
    try {
      return await this.#inspect(content, frame, models)
    } catch (error) {
      return failedRule('prompt', error)
    } finally {
      this.#highest = none
      await this.#remember(frame)
    }
  }

  /** A frame of the provider. `asked`: a response was requested and has not begun, so an error may be about it. */
  pass(frame: Buffer, asked: boolean): PassedFrames | Promise<PassedFrames> {
    const content = this.#content
    if (content === null) return [frame]
    const { type, id } = readHead(frame)
    const stream = this.#streams.get(id) ?? this.#open(id, content)
    if (stream === null) return tooMany
    // An error may be about something else, and its response may go on: its texts have not ended.
    if (type === 'error') return this.#passError(stream, frame, asked, content)
    if (type === 'response.created' && stream.running++ === 0) Object.assign(stream, this.#fresh(content))
    if (stream.withheld) return this.#end(id, stream, type, nothing)
    stream.reads ||= content.readsAnswer
    if (!stream.reads) return this.#end(id, stream, type, [frame])
    const passing = stream.stage.event(eventOf(frame), frame)
    const act = (passed: Passed) => this.#end(id, stream, type, framesOf(passed, stream))
    return passing instanceof Promise ? passing.then(act) : act(passing)
  }

  /** The `stream_id` of a frame; '' if it has none. */
  streamOf(frame: Buffer): string {
    return readHead(frame).id
  }

  async #use(policies: readonly ContentPolicy[]): Promise<CallContent> {
    const { gateway, trace, inspection, arrival } = this.#call
    const rules = await readyRules(policies, gateway.patterns)
    this.#content ??= new CallContent(policies, rules, trace, this.#placeholders)
    arrival.content = this.#content
    this.#content.use(policies, rules)
    // Never denied: a query contains no prompt.
    if (inspection.query.length > 1 && rules.prompt.length > 0)
      noteUnseen(trace, [], 'prompt', 'the query is not checked')
    return this.#content
  }

  async #inspect(content: CallContent, frame: Buffer, models: readonly Span[]): Promise<Buffer | Fault> {
    const isKnown = prompts.has(readHead(frame).type)
    if (isKnown && !mayMatch(frame, 'prompt', content.rules)) return frame
    const refused = await inspectBody(frame, content, this.#call.abort, isKnown)
    const found = content.edits.splice(0)
    if (refused !== null) return refused
    const contentEdits = promptEdits({ renameTo: null, askForUsage: false, contentEdits: found }, models)
    if (contentEdits.length > 0) notePatch(this.#call, promptRedacted)
    return applyEdits(frame, contentEdits)
  }

  /** What the client wrote itself is not treated as a placeholder in later turns either. */
  async #remember(frame: Buffer): Promise<void> {
    for (let from = 0; from < frame.length; from += windowBytes) {
      if (from > 0) await nextTurn()
      noteNumbers(frame.toString('latin1', from, from + windowBytes + longestPlaceholder), this.#written)
      if (this.#written.size > mostLabels) this.#written.clear()
    }
  }

  #open(id: string, content: CallContent): Stream | null {
    if (this.#streams.size >= mostStreams) {
      const idle = [...this.#streams].find(([, { running }]) => running === 0)
      if (idle === undefined) return null
      this.#streams.delete(idle[0])
    }
    const stream = { ...this.#fresh(content), running: 0 }
    this.#streams.set(id, stream)
    return stream
  }

  #fresh(content: CallContent): Omit<Stream, 'running'> {
    const before: Buffer[] = []
    const { match } = this.#call
    const stage = new ContentStage({ call: this.#call, match }, content, (data) => before.push(data))
    return { stage, before, withheld: false, reads: false }
  }

  #passError(
    stream: Stream,
    frame: Buffer,
    asked: boolean,
    content: CallContent,
  ): PassedFrames | Promise<PassedFrames> {
    stream.running = 0
    if (stream.withheld && !asked) return nothing
    if (!content.readsAnswer) return [frame]
    const apart = { ...this.#fresh(content), running: 0 }
    const passing = apart.stage.event(eventOf(frame), frame)
    return passing instanceof Promise ? passing.then((passed) => framesOf(passed, apart)) : framesOf(passing, apart)
  }

  #end(id: string, stream: Stream, type: string, passed: PassedFrames): PassedFrames {
    if (isFault(passed)) stream.withheld = true
    if (!ends.has(type)) return passed
    stream.running = Math.max(0, stream.running - 1)
    if (stream.running === 0) this.#streams.delete(id)
    return passed
  }
}

const isFault = (passed: PassedFrames): passed is Fault => 'code' in passed

function framesOf(passed: Passed, { before }: Stream): PassedFrames {
  const first = before.splice(0)
  if (passed === null) return first
  return Buffer.isBuffer(passed) ? [...first, passed] : passed
}

function eventOf(frame: Buffer) {
  return { bytes: frame, name: '', data: frame, part: frame.length > mostBytes ? 'head' : 'whole' } as const
}

/** The type of a message and its `stream_id`; '' if it has none. */
function readHead(frame: Buffer): { type: string; id: string } {
  const scan = scanObject(frame, ['type', 'stream_id'])
  const read = (wanted: string) => {
    const member = scan.ok ? scan.members.findLast(({ name }) => name === wanted) : undefined
    return member === undefined ? '' : (asText(readValue(frame, member, shortValue)) ?? '')
  }
  return { type: read('type'), id: read('stream_id') }
}

const tooMany = fault(
  'policy_denied',
  'Content rules apply to the answers, and there are too many at once on this connection. Ask for less at a time.',
)
