import { asText, type JsonObject } from '../../core/json/json-value.ts'
import type { Carriers, WriteContext } from '../codec.ts'
import type { Opaque } from '../conversation.ts'
import { wrapCustomInput } from '../custom-tools.ts'
import { answerId, clientToolName, mintId } from '../ids.ts'
import { embedJson } from '../json.ts'
import type { ModelReply } from '../reply.ts'
import { finalReason } from '../stop.ts'
import { writeCitation } from './citations.ts'
import { writeStop } from './stop.ts'
import { estimatedUsage, writeMessagesUsage } from './usage.ts'

export function writeMessagesReply(reply: ModelReply, context: WriteContext): JsonObject {
  const usage = context.usage()
  const hasCalls = reply.parts.some((part) => part.kind === 'call')
  const stop = { ...reply.stop, reason: finalReason(reply.stop.reason, hasCalls) }
  return {
    id: answerId('msg_', reply.id, context.requestId),
    type: 'message',
    role: 'assistant',
    model: reply.model,
    content: reply.parts.flatMap((part, index) => writeBlock(part, index, reply, context)),
    ...writeStop(refusalStop(reply, stop)),
    container: null,
    usage: usage === null ? { ...estimatedUsage(context.estimatedInput), output_tokens: 0 } : writeMessagesUsage(usage),
  }
}

/** A refusal by OpenAI's models becomes text here, under the stop reason for refusals. */
function refusalStop({ parts }: ModelReply, stop: ModelReply['stop']): ModelReply['stop'] {
  const refusals = parts.filter((part) => part.kind === 'refusal').map(({ text }) => text)
  if (refusals.length === 0 || (stop.reason !== 'done' && stop.reason !== 'refused')) return stop
  return { ...stop, reason: 'refused', explanation: stop.explanation ?? asText(refusals.join('')) }
}

function writeBlock(
  part: ModelReply['parts'][number],
  index: number,
  reply: ModelReply,
  context: WriteContext,
): JsonObject[] {
  switch (part.kind) {
    case 'text': {
      const citations = part.citations?.map(writeCitation) ?? null
      // Anthropic refuses a block of white space in the history.
      const text = part.text.trim() === '' ? [] : [{ type: 'text', text: part.text, citations }]
      // A signature may come with an empty text.
      return [...text, ...writeSigned(part.opaque, null, context.carriers)]
    }
    case 'image':
      return []
    case 'refusal':
      return part.text.trim() === '' ? [] : [{ type: 'text', text: part.text, citations: null }]
    case 'reasoning':
      return writeThinking(part.text, part.opaque, context.carriers)
    case 'call': {
      const id = part.id ?? mintToolId(reply.id, context.requestId, index)
      const json = part.custom ? wrapCustomInput(part.arguments) : part.arguments
      const input = embedJson(json.trim() === '' ? '{}' : json)
      return [
        {
          type: 'tool_use',
          id,
          name: clientToolName(context.conversation, part.name),
          input,
          caller: { type: 'direct' },
        },
        ...writeSigned(part.opaque, id, context.carriers),
      ]
    }
  }
}

/** The block after a call or text that another provider signed. */
function writeSigned(opaque: Opaque | undefined, callId: string | null, carriers: Carriers): JsonObject[] {
  const data = opaque === undefined ? null : sealSigned(opaque, callId, carriers)
  return data === null ? [] : [{ type: 'redacted_thinking', data }]
}

/** Seals a signature with its call's id (null: a text), since clients move thinking before calls. */
export function sealSigned(opaque: Opaque, callId: string | null, carriers: Carriers): string | null {
  return carriers.seal(callId === null ? opaque : { ...opaque, id: callId })
}

/** Seals another provider's reasoning in place of Anthropic's signature, so that the client sends it back. */
function writeThinking(text: string, opaque: Opaque | undefined, carriers: Carriers): JsonObject[] {
  const isRedacted = opaque?.family === 'anthropic' && opaque.form === 'redacted'
  if (isRedacted) return [{ type: 'redacted_thinking', data: opaque.value }]
  const signature = opaque === undefined ? '' : signatureOf(opaque, carriers)
  return text === '' && signature === '' ? [] : [{ type: 'thinking', thinking: text, signature }]
}

/** '' if there is nothing to carry: a signature is never made up. */
export function signatureOf(opaque: Opaque, carriers: Carriers): string {
  return opaque.family === 'anthropic' ? opaque.value : (carriers.seal(opaque) ?? '')
}

export function mintToolId(replyId: string, requestId: string, index: number): string {
  return mintId('toolu_', replyId === '' ? requestId : replyId, index)
}
