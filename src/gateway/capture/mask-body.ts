import { setImmediate as nextTurn } from 'node:timers/promises'
import type { CaptureMode } from '../../core/capture.ts'
import { JsonArrayFramer } from '../../core/json-array.ts'
import { SseFramer } from '../../core/sse.ts'
import type { StreamFramer } from '../../core/stream-event.ts'
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

/** Masks what of one request is kept. */
export class BodyMask {
  readonly #find: Find

  /** `secrets`: the gateway key of the request and the credentials that it was sent with, hidden whatever the mode. */
  constructor(mode: CaptureMode, secrets: readonly string[]) {
    const own = knownSecrets(secrets)
    // What has a name of its own keeps it: the first of two that find the same.
    const chosen: Detector[] = mode === 'full' ? [detectors['gateway-keys'], own] : [...Object.values(detectors), own]
    this.#find = finderOf(chosen)
  }

  /** The text of a body, masked; null for one that is no text. In pieces: other requests of the thread go on meanwhile. */
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

/** Gemini streams an array where nobody asks for events. */
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
