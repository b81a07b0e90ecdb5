import type { JsonObject } from '../../core/json/json-value.ts'
import type { WriteContext } from '../codec.ts'
import { answerId } from '../ids.ts'
import type { ModelReply } from '../reply.ts'
import { replyEvents } from '../reply-events.ts'
import { writeFinish } from './finish.ts'
import { PartWriter } from './part-writer.ts'
import { writeGenerateUsage } from './usage.ts'

export function writeGenerateReply(reply: ModelReply, context: WriteContext): JsonObject {
  const writer = new PartWriter(context, reply.id)
  for (const event of replyEvents(reply)) writer.write(event)
  writer.end(reply.stop)
  const { grounding } = writer
  const candidate = {
    content: { role: 'model', parts: writer.take() },
    ...writeFinish(reply.stop),
    index: 0,
    ...writer.takeLogprobs(),
    ...(grounding !== null && { groundingMetadata: grounding }),
  }
  return { candidates: [candidate], ...writeHead(reply.id, reply.model, context), ...writeUsage(context) }
}

/** The members that every chunk repeats. */
export function writeHead(id: string, model: string, { requestId }: WriteContext): JsonObject {
  return { modelVersion: model, responseId: answerId('', id, requestId) }
}

export function writeUsage(context: WriteContext): JsonObject {
  const usage = context.usage()
  return usage === null ? {} : { usageMetadata: writeGenerateUsage(usage) }
}
