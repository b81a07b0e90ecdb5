import { type Fault, fault } from '../../core/errors.ts'
import { type Span, scanObject, shortValue } from '../../core/json-scan.ts'
import { asText, readValue } from '../../core/json-value.ts'
import { nextTurn } from '../../core/slices.ts'
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

/** What goes to the client in the place of a frame, in order. A fault: nothing of it does, and nothing that follows of its response. */
export type PassedFrames = readonly Buffer[] | Fault

/** Responses that come one after another: those that were asked for with the same `stream_id`, or with none. */
interface Stream {
  stage: ContentStage
  /** What goes out before the event at hand. */
  before: Buffer[]
  /** How many are under way. */
  running: number
  /** One was refused: nothing passes until the next begins. */
  withheld: boolean
  /** There was something to look for, or to put back. */
  reads: boolean
}

/** Frames whose texts are known: they have the members of a call's body. */
const prompts = new Set(['response.create', 'response.steer'])
const ends = new Set(['response.completed', 'response.incomplete', 'response.failed', 'response.done'])
/** A larger event is refused, as in a stream of HTTP. */
const mostBytes = 1024 * 1024
/** Far more than any text has that looks like placeholders; beyond it, all is forgotten. */
const mostLabels = 1000
/** Far more than any client has. */
const mostStreams = 100
/** So much is looked through at once. */
const windowBytes = 64 * 1024
const none: ReturnType<typeof highestIn> = () => 0
const nothing: PassedFrames = []

/**
 * Content rules on a connection whose messages are those of HTTP: each frame of the client is looked at like the body of a call, each of
 * the provider like an event of a stream. All turns share their placeholders, since the provider remembers what was said before.
 */
export class SocketContent {
  readonly #call: Call
  readonly #streams = new Map<string, Stream>()
  /** By label, what the client wrote itself before. */
  readonly #written = new Map<string, number>()
  readonly #placeholders = new Placeholders((label) => Math.max(this.#highest(label), this.#written.get(label) ?? 0))
  /** Of the prompt at hand. */
  #highest = none
  /** null: the rules are not ready. */
  #content: CallContent | null = null

  constructor(call: Call) {
    this.#call = call
  }

  /** A frame of the client as it may go up, by the rules of now. `models`: spans that are no text. */
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

  /** A frame of the provider. `asked`: a response was asked for and has not begun, so that an error may be about it. */
  pass(frame: Buffer, asked: boolean): PassedFrames | Promise<PassedFrames> {
    const content = this.#content
    if (content === null) return [frame]
    const { type, id } = readHead(frame)
    const stream = this.#streams.get(id) ?? this.#open(id, content)
    if (stream === null) return tooMany
    // An error may be about something else, and its response go on: its texts have not ended.
    if (type === 'error') return this.#passError(stream, frame, asked, content)
    if (type === 'response.created' && stream.running++ === 0) Object.assign(stream, this.#fresh(content))
    if (stream.withheld) return this.#end(id, stream, type, nothing)
    stream.reads ||= content.readsAnswer
    if (!stream.reads) return this.#end(id, stream, type, [frame])
    const passing = stream.stage.event(eventOf(frame), frame)
    const act = (passed: Passed) => this.#end(id, stream, type, framesOf(passed, stream))
    return passing instanceof Promise ? passing.then(act) : act(passing)
  }

  /** The `stream_id` of a frame; '' where it has none. */
  streamOf(frame: Buffer): string {
    return readHead(frame).id
  }

  async #use(policies: readonly ContentPolicy[]): Promise<CallContent> {
    const { gateway, trace, inspection, arrival } = this.#call
    const rules = await readyRules(policies, gateway.patterns)
    this.#content ??= new CallContent(policies, rules, trace, this.#placeholders)
    arrival.content = this.#content
    this.#content.use(policies, rules)
    // Never denied: no prompt stands there.
    if (inspection.query.length > 1 && rules.prompt.length > 0)
      noteUnseen(trace, [], 'prompt', 'the query is not looked at')
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

  /** What the client wrote itself stands for nothing in later turns either. */
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

/** Which kind of message it is, and by which `stream_id`; '' where it does not say. */
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
