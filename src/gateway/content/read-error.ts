import { type Fault, originOf } from '../../core/errors.ts'
import type { Leg } from '../upstream/leg.ts'
import type { CallContent } from './call-content.ts'
import { ContentStage } from './content-stage.ts'

/** A provider's error may repeat what the model wrote (`failed_generation`), or the prompt with its placeholders. */
export async function readError(
  leg: Pick<Leg, 'call' | 'match'>,
  content: CallContent,
  body: Buffer,
  isPlain: boolean,
): Promise<Buffer | Fault> {
  const stage = new ContentStage(leg, content)
  return isPlain ? stage.whole(body) : (stage.faultIfUnread ?? body)
}

/** The same for a fault that quotes the provider. Placeholders stay, because the record has the same words. */
export async function readQuoted(call: Leg['call'], content: CallContent, reason: Fault): Promise<Fault> {
  if (originOf(reason) !== 'provider') return reason
  const stage = new ContentStage({ call, match: call.match }, content, null, false)
  const passed = await stage.whole(Buffer.from(reason.message))
  return Buffer.isBuffer(passed) ? { ...reason, message: passed.toString() } : passed
}
