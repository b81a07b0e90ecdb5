import type { JsonObject } from '../../core/json/json-value.ts'
import type { WriteContext } from '../codec.ts'
import type { CallPart, Conversation, ReasoningPart } from '../conversation.ts'
import { customToolNames, unwrapCustomInput } from '../custom-tools.ts'
import { answerId, clientToolName, mintId } from '../ids.ts'
import type { ModelReply, Stop } from '../reply.ts'
import { servedTier } from '../served-tier.ts'
import { finalReason } from '../stop.ts'
import { writeCarried, writeCarriedCall } from './carriers.ts'
import { writeAnnotation } from './citations.ts'
import { writeFinish } from './finish.ts'
import { writeChatUsage } from './usage.ts'

export function writeChatReply(reply: ModelReply, context: WriteContext): JsonObject {
  const usage = context.usage()
  const service_tier = servedTier(usage, 'chat')
  const calls = reply.parts.filter((part) => part.kind === 'call')
  const reason = finalReason(reply.stop.reason, calls.length > 0)
  return {
    id: answerId('chatcmpl-', reply.id, context.requestId),
    object: 'chat.completion',
    created: reply.created ?? context.created,
    model: reply.model,
    choices: [
      {
        index: 0,
        message: writeMessage(reply, calls, context),
        logprobs: writeLogprobs(reply, context.conversation),
        finish_reason: writeFinish(
          reason,
          usesFunctions(context.conversation),
          reply.parts.some(({ kind }) => kind === 'refusal'),
        ),
      },
    ],
    ...(service_tier !== null && { service_tier }),
    ...(usage === null ? {} : { usage: writeChatUsage(usage) }),
  }
}

function writeLogprobs({ parts }: ModelReply, { settings }: Conversation): JsonObject | null {
  const content = parts.flatMap((part) => (part.kind === 'text' ? (part.logprobs ?? []) : []))
  return content.length === 0 || settings.logprobs === null ? null : { content, refusal: null }
}

function writeMessage(reply: ModelReply, calls: readonly CallPart[], context: WriteContext): JsonObject {
  let [content, refusal] = ['', '']
  const annotations: JsonObject[] = []
  const reasoning: ReasoningPart[] = []
  for (const part of reply.parts) {
    if (part.kind === 'text') {
      const from = content.length
      content += part.text
      annotations.push(...(part.citations ?? []).map((citation) => writeAnnotation(citation, from, content.length)))
    } else if (part.kind === 'refusal') refusal += part.text
    else if (part.kind === 'reasoning') reasoning.push(part)
  }
  if (refusal === '') refusal = refusalOf(reply.stop, content === '' && calls.length === 0)
  const thought = context.reasoningText ? reasoning.map(({ text }) => text).join('') : ''
  const carried = context.conversation.settings.carriesReasoning ? writeCarried(reasoning, context.carriers) : null
  return {
    role: 'assistant',
    content: content === '' && (calls.length > 0 || refusal !== '') ? null : content,
    refusal: refusal === '' ? null : refusal,
    ...(thought === '' ? {} : { reasoning_content: thought }),
    ...(annotations.length === 0 ? {} : { annotations }),
    ...writeCalls(reply, calls, context),
    ...(carried === null ? {} : { extra_content: carried }),
  }
}

/** What the provider says about a refusal. If a filter left nothing of the answer, that is said here too. '': nothing. */
export function refusalOf({ reason, explanation }: Stop, isEmpty: boolean): string {
  if (reason === 'refused') return explanation ?? 'The model refused to answer.'
  return reason === 'filtered' && isEmpty ? (explanation ?? '') : ''
}

function writeCalls(reply: ModelReply, calls: readonly CallPart[], context: WriteContext): JsonObject {
  const [first] = calls
  if (first === undefined) return {}
  const { conversation } = context
  if (usesFunctions(conversation)) {
    return { function_call: { name: clientToolName(conversation, first.name), arguments: argumentsOf(first) } }
  }
  const custom = customToolNames(conversation)
  return {
    tool_calls: calls.map((call, index) => {
      const name = clientToolName(conversation, call.name)
      const id = call.id ?? mintCallId(reply.id, context.requestId, index)
      const extra =
        call.opaque && conversation.settings.carriesReasoning ? writeCarriedCall(call.opaque, context.carriers) : null
      const carried = extra === null ? {} : { extra_content: extra }
      if (call.custom || custom.has(name)) {
        const input = call.custom ? call.arguments : unwrapCustomInput(call.arguments)
        return { id, type: 'custom', custom: { name, input }, ...carried }
      }
      return { id, type: 'function', function: { name, arguments: argumentsOf(call) }, ...carried }
    }),
  }
}

export function mintCallId(replyId: string, requestId: string, index: number): string {
  return mintId('call_', replyId === '' ? requestId : replyId, index)
}

function argumentsOf({ arguments: text }: CallPart): string {
  return text === '' ? '{}' : text
}

/** The client declared its tools as functions, chat's older form, and reads calls in that form. */
export function usesFunctions({ tools }: Conversation): boolean {
  return tools.some(({ path }) => path.startsWith('functions['))
}
