import { scanObject } from '../../core/json/json-scan.ts'
import { readMembers } from '../../core/json/json-value.ts'
import type { UsageDetail } from '../../core/record.ts'
import type { AnswerReader, BodyReading, Inspection } from '../contract.ts'
import { usageDetail } from '../usage.ts'
import { type AnswerShape, WholeReader } from '../whole-reader.ts'
import { MediaReader } from './media-reader.ts'
import { ResponsesReader } from './responses-reader.ts'
import { ThreadsReader } from './threads-reader.ts'
import { readGraderUsage, readUsage, readUsageDetail } from './usage.ts'

const shape: AnswerShape = {
  model: 'model',
  id: 'id',
  usage: '',
  readUsage,
  readDetail: (usage) => readUsageDetail(usage, null),
}
const countedShape: AnswerShape = { ...shape, usage: 'usage' }

/** For answers that need not be JSON: bytes, plain text or nothing. JSON is read if it comes. */
class AnyReader extends WholeReader {
  override body(bytes: Buffer): BodyReading {
    super.body(bytes)
    return { wrong: null }
  }
}

/** For answers whose usage is not counted: there is none, or it was counted when the answer was created. */
export function readWhole(): AnswerReader {
  return new WholeReader(shape)
}

export function readAny(): AnswerReader {
  return new AnyReader(shape)
}

export function readCounted(): AnswerReader {
  return new WholeReader(countedShape)
}

const gradedShape: AnswerShape = {
  ...shape,
  usage: 'model_grader_token_usage_per_model',
  readUsage: readGraderUsage,
  readDetail: () => null,
}

export function readGraded(): AnswerReader {
  return new WholeReader(gradedShape)
}

/** Images as JSON. */
export function readImages({ framing }: Inspection): AnswerReader {
  return framing === null ? new WholeReader(countedShape) : new MediaReader(framing)
}

/** As `MediaReader`, for what is no stream and may be any text. */
class TranscriptReader extends AnyReader {
  #seconds: number | null = null

  override body(bytes: Buffer): BodyReading {
    const scan = scanObject(bytes, ['duration'])
    const { duration } = scan.ok ? readMembers(bytes, scan.members) : {}
    this.#seconds = typeof duration === 'number' ? duration : null
    return super.body(bytes)
  }

  override usageDetail(): UsageDetail | null {
    return super.usageDetail() ?? (this.usage() === null ? usageDetail({ seconds: this.#seconds }) : null)
  }
}

/** Transcripts as JSON or text. */
export function readTranscript({ framing }: Inspection): AnswerReader {
  return framing === null ? new TranscriptReader(countedShape) : new MediaReader(framing)
}

/** Speech as bytes. */
export function readAudio({ framing }: Inspection): AnswerReader {
  return framing === null ? new AnyReader(countedShape) : new MediaReader(framing)
}

export function readResponse({ framing, stores }: Inspection): AnswerReader {
  return new ResponsesReader(framing, stores ? 'stored-too' : 'made')
}

export function readStoredResponse({ framing }: Inspection): AnswerReader {
  return new ResponsesReader(framing, 'replayed')
}

export function readRun({ framing }: Inspection): AnswerReader {
  return framing === null ? readWhole() : new ThreadsReader(framing, false)
}

/** The call also creates the run's thread. */
export function readThreadAndRun({ framing }: Inspection): AnswerReader {
  return framing === null ? readWhole() : new ThreadsReader(framing, true)
}
