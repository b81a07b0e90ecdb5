import type { JsonObject } from '../../core/json/json-value.ts'
import type { WriteContext } from '../codec.ts'
import type { ModelReply } from '../reply.ts'
import { replyEvents } from '../reply-events.ts'
import { ItemWriter } from './item-writer.ts'
import { ResponseShell } from './response-shell.ts'

export function writeResponsesReply(reply: ModelReply, context: WriteContext): JsonObject {
  const shell = new ResponseShell(context, reply.id, reply.model)
  const items = new ItemWriter(context, shell.ids, () => {})
  for (const event of replyEvents(reply)) items.take(event)
  return shell.end(items.end(reply.stop), reply.stop, context.usage())
}
