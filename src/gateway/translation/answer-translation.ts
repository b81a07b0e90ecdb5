import type { Codec, WriteContext } from '../../translate/codec.ts'
import type { DocumentPiece } from '../../translate/json.ts'
import type { PausedBlocks } from '../../translate/pausing.ts'
import type { WrittenAnswer } from '../answer/written-tokens.ts'
import type { Leg } from '../upstream/leg.ts'
import type { TurnRecorder } from './turn-recorder.ts'

/** What the way of an answer back to its client needs. */
export interface AnswerTranslation {
  readonly client: Codec
  readonly upstream: Codec
  /** Whether a call of the conversation has the id. */
  hasCall(id: string): boolean
  /** What the client does not get of the answer. */
  lose(name: string): void
  /** Where what the model thinks before its calls is to be kept; null: the client carries it itself. */
  openRecorder(leg: Leg): TurnRecorder | null
  /** For a part of a stream that its provider may pause in; null: it does not. */
  openBlocks(): PausedBlocks | null
  /** The leg that asks for the rest of an answer, of which these blocks have come; null: it may not be asked for. */
  goOn(leg: Leg, blocks: readonly string[]): Promise<Leg | null>
  /** `leg`: of the part that has come last. `pieces`: long texts that were cut out of the answer. */
  writeContext(leg: () => Leg, written: WrittenAnswer, pieces?: readonly DocumentPiece[]): WriteContext
}
