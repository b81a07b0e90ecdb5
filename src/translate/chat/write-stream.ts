import type { JsonObject } from '../../core/json/json-value.ts'
import { brokenAnswer } from '../broken-answer.ts'
import type { ReplyWriter, WriteContext } from '../codec.ts'
import type { Citation, ReasoningPart, TokenLogprob } from '../conversation.ts'
import { CustomInputDecoder, customToolNames } from '../custom-tools.ts'
import { answerId, clientToolName } from '../ids.ts'
import type { ReplyError, ReplyEvent, Stop } from '../reply.ts'
import { servedTier } from '../served-tier.ts'
import { finalReason } from '../stop.ts'
import { writeCarried, writeCarriedCall } from './carriers.ts'
import { writeAnnotation } from './citations.ts'
import { writeChatError } from './errors.ts'
import { writeFinish } from './finish.ts'
import { writeChatUsage } from './usage.ts'
import { mintCallId, refusalOf, usesFunctions } from './write-reply.ts'

interface WrittenCall {
  index: number
  /** For a custom tool that the provider knows as a function. */
  decoder: CustomInputDecoder | null
  custom: boolean
  isEmpty: boolean
}

/** Writes `chat.completion.chunk` events. Calls may be interleaved in chat, so nothing is held back. */
export class ChatStreamWriter implements ReplyWriter {
  readonly #context: WriteContext
  readonly #customTools: ReadonlySet<string>
  readonly #asFunction: boolean
  #start = { id: '', model: '' }
  /** The part of a chunk before its delta; '' until the first content. */
  #head = ''
  #tail = ''
  readonly #calls = new Map<number, WrittenCall>()
  readonly #reasoning = new Map<number, ReasoningPart>()
  /** By text part: its position and length in the whole text. */
  readonly #texts = new Map<number, { from: number; length: number }>()
  #textLength = 0
  readonly #citations: { part: number; citation: Citation }[] = []
  #refused = false
  #stop: Stop = { reason: 'done', sequence: null, explanation: null }

  constructor(context: WriteContext) {
    this.#context = context
    this.#customTools = customToolNames(context.conversation)
    this.#asFunction = usesFunctions(context.conversation)
  }

  events(events: readonly ReplyEvent[]): string {
    let written = ''
    for (const event of events) written += this.#write(event)
    return written
  }

  end(): string {
    if (this.#stop.reason === 'broken') return this.error(brokenAnswer)
    let written = ''
    for (const [part, call] of this.#calls) written += this.#endCall(part, call)
    const refusal = this.#refused ? '' : refusalOf(this.#stop, this.#textLength === 0 && this.#calls.size === 0)
    if (refusal !== '') written += this.#chunk({ refusal })
    const rest = this.#rest()
    if (Object.keys(rest).length > 0) written += this.#chunk(rest)
    const reason = finalReason(this.#stop.reason, this.#calls.size > 0)
    const usage = this.#context.usage()
    const tier = servedTier(usage, 'chat')
    // Known only at the end, and sent with the last chunk.
    if (tier !== null) this.#tail = this.#tail.replace(']', `],"service_tier":"${tier}"`)
    written += this.#chunk({}, writeFinish(reason, this.#asFunction, this.#refused))
    if (this.#context.conversation.settings.streamUsage && usage !== null)
      written += this.#usageChunk({ ...(tier !== null && { service_tier: tier }), usage: writeChatUsage(usage) })
    return `${written}data: [DONE]\n\n`
  }

  error(error: ReplyError): string {
    return `data: ${JSON.stringify(writeChatError(error).body)}\n\n`
  }

  #write(event: ReplyEvent): string {
    switch (event.kind) {
      case 'start':
        this.#start = event
        return ''
      case 'text':
        return this.#writeText(event.part, event.text, event.logprobs)
      case 'refusal':
        this.#refused = true
        return this.#chunk({ refusal: event.text })
      case 'reasoning':
        return this.#writeReasoning(event.part, event.text)
      case 'opaque':
        return this.#keepOpaque(event)
      case 'call':
        return this.#beginCall(event)
      case 'arguments':
        return this.#writeArguments(event.part, event.text)
      case 'citation':
        this.#citations.push(event)
        return ''
      case 'part-end': {
        const call = this.#calls.get(event.part)
        return call === undefined ? '' : this.#endCall(event.part, call)
      }
      case 'stop':
        this.#stop = event.stop
        return ''
      default:
        return ''
    }
  }

  #writeText(part: number, text: string, logprobs: readonly TokenLogprob[] | undefined): string {
    const content = this.#context.conversation.settings.logprobs === null ? undefined : logprobs
    if (text === '' && content === undefined) return ''
    const place = this.#texts.get(part) ?? { from: this.#textLength, length: 0 }
    this.#texts.set(part, { ...place, length: place.length + text.length })
    this.#textLength += text.length
    const written = content === undefined ? 'null' : JSON.stringify({ content, refusal: null })
    return this.#chunk({ content: text }, null, written)
  }

  #writeReasoning(part: number, text: string): string {
    const { reasoningText, conversation } = this.#context
    if (conversation.settings.carriesReasoning) {
      const before = this.#reasoning.get(part)
      this.#reasoning.set(part, { kind: 'reasoning', path: '', ...before, text: (before?.text ?? '') + text })
    }
    return reasoningText && text !== '' ? this.#chunk({ reasoning_content: text }) : ''
  }

  #keepOpaque({ part, opaque }: Extract<ReplyEvent, { kind: 'opaque' }>): string {
    if (!this.#context.conversation.settings.carriesReasoning) return ''
    const call = this.#calls.get(part)
    if (call === undefined) {
      const before = this.#reasoning.get(part)
      this.#reasoning.set(part, { kind: 'reasoning', path: '', text: '', ...before, opaque })
      return ''
    }
    const extra = writeCarriedCall(opaque, this.#context.carriers)
    return extra === null ? '' : this.#chunk({ tool_calls: [{ index: call.index, extra_content: extra }] })
  }

  #beginCall({ part, id, name, custom }: Extract<ReplyEvent, { kind: 'call' }>): string {
    const { conversation, requestId } = this.#context
    const known = clientToolName(conversation, name)
    const isCustom = custom || this.#customTools.has(known)
    const index = this.#calls.size
    const decoder = isCustom && !custom ? new CustomInputDecoder() : null
    this.#calls.set(part, { index, decoder, custom: isCustom, isEmpty: true })
    if (this.#asFunction) return index > 0 ? '' : this.#chunk({ function_call: { name: known, arguments: '' } })
    const inside = isCustom
      ? { type: 'custom', custom: { name: known, input: '' } }
      : { type: 'function', function: { name: known, arguments: '' } }
    return this.#chunk({ tool_calls: [{ index, id: id ?? mintCallId(this.#start.id, requestId, index), ...inside }] })
  }

  #writeArguments(part: number, text: string): string {
    const call = this.#calls.get(part)
    if (call === undefined) return ''
    const piece = call.decoder === null ? text : call.decoder.push(text)
    return piece === '' ? '' : this.#argumentsChunk(call, piece)
  }

  #argumentsChunk(call: WrittenCall, piece: string): string {
    call.isEmpty = false
    if (this.#asFunction) return call.index > 0 ? '' : this.#chunk({ function_call: { arguments: piece } })
    const inside = call.custom ? { custom: { input: piece } } : { function: { arguments: piece } }
    return this.#chunk({ tool_calls: [{ index: call.index, ...inside }] })
  }

  /** Calling it again for a call that has ended returns nothing. */
  #endCall(_: number, call: WrittenCall): string {
    const rest = call.decoder?.end() ?? ''
    call.decoder = call.decoder === null ? null : new CustomInputDecoder()
    if (rest !== '') return this.#argumentsChunk(call, rest)
    return call.isEmpty && !call.custom ? this.#argumentsChunk(call, '{}') : ''
  }

  /** Members that are only known when all text is. */
  #rest(): JsonObject {
    const annotations = this.#citations.map(({ part, citation }) => {
      const { from, length } = this.#texts.get(part) ?? { from: 0, length: this.#textLength }
      return writeAnnotation(citation, from, from + length)
    })
    const carried = writeCarried([...this.#reasoning.values()], this.#context.carriers)
    return {
      ...(annotations.length === 0 ? {} : { annotations }),
      ...(carried === null ? {} : { extra_content: carried }),
    }
  }

  #chunk(delta: JsonObject, finish: string | null = null, logprobs = 'null'): string {
    const isText = !('tool_calls' in delta || 'reasoning_content' in delta || 'refusal' in delta)
    const role = this.#head === '' ? this.#open(isText ? '""' : 'null') : ''
    const rest = `,"logprobs":${logprobs},"finish_reason":${JSON.stringify(finish)}${this.#tail}`
    return `${role}${this.#head}${JSON.stringify(delta)}${rest}`
  }

  /** The first chunk names the role. As in a whole answer, `content` is null beside calls alone, but '' if there is an empty text. */
  #open(content: '""' | 'null'): string {
    const { requestId, created, conversation } = this.#context
    const id = answerId('chatcmpl-', this.#start.id, requestId)
    const head = JSON.stringify({ id, object: 'chat.completion.chunk', created, model: this.#start.model })
    this.#head = `data: ${head.slice(0, -1)},"choices":[{"index":0,"delta":`
    this.#tail = conversation.settings.streamUsage ? '}],"usage":null}\n\n' : '}]}\n\n'
    return `${this.#head}{"role":"assistant","content":${content},"refusal":null},"logprobs":null,"finish_reason":null${this.#tail}`
  }

  #usageChunk(members: JsonObject): string {
    const head = this.#head.slice(0, this.#head.lastIndexOf('"choices":'))
    return `${head}"choices":[],${JSON.stringify(members).slice(1)}\n\n`
  }
}
