import { setImmediate as nextTurn } from 'node:timers/promises'
import { SseFramer } from '../../core/bytes/sse.ts'
import type { StreamFramer } from '../../core/bytes/stream-event.ts'
import type { CaptureMode } from '../../core/capture.ts'
import { JsonArrayFramer } from '../../core/json/json-array.ts'
import { type Detector, findAll } from '../../policy/detectors/detector.ts'
import { detectors } from '../../policy/detectors/index.ts'
import { type Find, type Masked, maskAcrossEvents, maskJsonText, maskPlainText } from '../../policy/detectors/mask.ts'
import { knownSecrets } from '../../policy/detectors/secrets.ts'

const eventStream = /^text\/event-stream\b/i
const jsonLike =
  /^(?:application\/(?:[\w.-]+\+)?json|application\/(?:x-)?(?:ndjson|jsonl|json-seq|jsonlines)|text\/event-stream)\b/i
const textual = /^(?:text\/|application\/(?:xml|x-www-form-urlencoded)\b)/i

function finderOf(chosen: readonly Detector[]): Find {
  return (text) => findAll(text, chosen)
}

/** Masks what is captured of one request. */
export class BodyMask {
  readonly #find: Find

  /** `secrets`: the request's gateway key and the credentials that it was sent with, masked whatever the mode. */
  constructor(mode: CaptureMode, secrets: readonly string[]) {
    const own = knownSecrets(secrets)
    // If two detectors find the same, the first wins, so that a find keeps its specific name.
    const chosen: Detector[] = mode === 'full' ? [detectors['gateway-keys'], own] : [...Object.values(detectors), own]
    this.#find = finderOf(chosen)
  }

  /** The masked text of a body; null if the body is not text. It works in pieces, so that the thread's other requests go on. */
  async body(bytes: Buffer, type: string | null): Promise<Masked | null> {
    if (type !== null && !jsonLike.test(type))
      return textual.test(type) ? maskPlainText(bytes.toString('utf8'), this.#find) : null
    const text = bytes.toString('utf8')
    const framer = chooseFramer(text, type)
    const joined = framer === null ? { text, places: 0 } : await rest(maskAcrossEvents(text, framer, this.#find))
    const { text: masked, places } = await rest(maskJsonText(joined.text, this.#find))
    return { text: masked, places: places + joined.places }
  }

  /** One line. */
  line(text: string): string {
    return maskPlainText(text, this.#find).text
  }
}

/** Gemini streams an array to clients that do not ask for events. */
function chooseFramer(text: string, type: string | null): StreamFramer | null {
  if (type !== null && eventStream.test(type)) return new SseFramer()
  return text.trimStart().startsWith('[') ? new JsonArrayFramer() : null
}

async function rest(work: Generator<void, Masked>): Promise<Masked> {
  for (;;) {
    const step = work.next()
    if (step.done === true) return step.value
    await nextTurn()
  }
}
