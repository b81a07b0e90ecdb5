import type { StreamEvent } from '../../core/bytes/stream-event.ts'
import { type Edit, type Member, scanObject } from '../../core/json/json-scan.ts'
import { applyEdits } from '../../lanes/patch-body.ts'
import { type Leg, notePatch } from '../upstream/leg.ts'
import type { AnswerStage } from './stage.ts'

/** Where the lanes' formats name the model: at the top, or in the first event of a stream. */
const names = ['model', 'modelVersion']
const holders = ['response', 'message']
const wanted = [...names, ...holders]
const quote = 0x22

/** Shows the name that the client asked for in place of the provider's own (item 7 of the closed list in product.md section 2). */
export class EchoModelStage implements AnswerStage {
  /** An answer too large to be held keeps the provider's name for the model. */
  readonly faultIfUnread = null
  readonly #leg: Leg
  readonly #text: string

  constructor(leg: Leg, model: string) {
    this.#leg = leg
    this.#text = JSON.stringify(model)
  }

  event(event: StreamEvent, pass: Buffer | null): Buffer | null {
    return pass === null || (event.part !== 'whole' && event.part !== 'cut') ? pass : this.whole(pass)
  }

  end(): null {
    return null
  }

  /** Also works on an event's bytes: an SSE frame contains no brace. */
  whole(body: Buffer): Buffer {
    const edits = this.#find(body)
    if (edits.length === 0) return body
    notePatch(this.#leg.call, "The model's name in the answer was changed to the one that the client asked for.")
    return applyEdits(body, edits)
  }

  #find(bytes: Buffer): Edit[] {
    const range = { start: bytes.indexOf('{'), end: bytes.lastIndexOf('}') + 1 }
    if (range.start < 0) return []
    const scan = scanObject(bytes, wanted, range)
    if (!scan.ok) return []
    return scan.members.flatMap((member) =>
      holders.includes(member.name) ? this.#within(bytes, member) : this.#edit(bytes, member),
    )
  }

  #within(bytes: Buffer, holder: Member): Edit[] {
    const scan = scanObject(bytes, names, holder)
    return scan.ok ? scan.members.flatMap((member) => this.#edit(bytes, member)) : []
  }

  #edit(bytes: Buffer, { start, end }: Member): Edit[] {
    if (bytes[start] !== quote || bytes.toString('utf8', start, end) === this.#text) return []
    return [{ span: { start, end }, text: this.#text }]
  }
}
