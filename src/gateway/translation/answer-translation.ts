import type { Codec, WriteContext } from '../../translate/codec.ts'
import type { DocumentPiece } from '../../translate/json.ts'
import type { WrittenAnswer } from '../answer/written-tokens.ts'
import type { Leg } from '../upstream/leg.ts'
import type { TurnRecorder } from './turn-recorder.ts'

/** What the way of an answer back to its client needs. */
export interface AnswerTranslation {
  readonly client: Codec
  readonly upstream: Codec
  /** What the client does not get of the answer. */
  lose(name: string): void
  /** Where what the model thinks before its calls is to be kept; null: the client carries it itself. */
  openRecorder(leg: Leg): TurnRecorder | null
  /** `pieces`: long texts that were cut out of the answer. */
  writeContext(leg: Leg, written: WrittenAnswer, pieces?: readonly DocumentPiece[]): WriteContext
}
