import type { Codec, WriteContext } from '../../translate/codec.ts'
import type { DocumentPiece } from '../../translate/json.ts'
import type { PausedBlocks } from '../../translate/pausing.ts'
import type { WrittenAnswer } from '../answer/written-tokens.ts'
import type { Leg } from '../upstream/leg.ts'
import type { TurnRecorder } from './turn-recorder.ts'

/** What translating an answer for its client needs. */
export interface AnswerTranslation {
  readonly client: Codec
  readonly upstream: Codec
  /** Whether the conversation has a call with this id. */
  hasCall(id: string): boolean
  /** Records what the client does not get of the answer. */
  lose(name: string): void
  /** Collects the model's reasoning before its calls, to be kept here; null: the client carries it itself. */
  openRecorder(leg: Leg): TurnRecorder | null
  /** For a part of a stream that its provider may pause; null: this provider does not. */
  openBlocks(): PausedBlocks | null
  /** The leg that asks for the rest of an answer after these blocks; null: the rest may not be requested. */
  goOn(leg: Leg, blocks: readonly string[]): Promise<Leg | null>
  /** `leg`: of the last part so far. `pieces`: long texts that were cut out of the answer. */
  writeContext(leg: () => Leg, written: WrittenAnswer, pieces?: readonly DocumentPiece[]): WriteContext
}
