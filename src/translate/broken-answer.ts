import { type Fault, fault } from '../core/errors.ts'
import type { ReplyError } from './reply.ts'

/** An unreadable tool call is never passed on: the stream ends with this error. */
export const brokenAnswer: ReplyError = {
  status: 502,
  kind: 'internal',
  message: 'The model made a call that cannot be read.',
  param: null,
}

/** The same for a whole answer. */
export function brokenReply(message: string = brokenAnswer.message): Fault {
  return fault('provider_bad_response', message, { ofModel: true })
}
