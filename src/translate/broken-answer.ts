import { type Fault, fault } from '../core/errors.ts'
import type { ReplyError } from './reply.ts'

/** A call that cannot be read is never passed on as an answer: a stream ends with this. */
export const brokenAnswer: ReplyError = {
  status: 502,
  kind: 'internal',
  message: 'The model made a call that cannot be read.',
  param: null,
}

/** The same of a whole answer. */
export function brokenReply(message: string = brokenAnswer.message): Fault {
  return fault('provider_bad_response', message, { ofModel: true })
}
