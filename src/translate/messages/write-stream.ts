import type { JsonObject } from '../../core/json/json-value.ts'
import { brokenAnswer } from '../broken-answer.ts'
import type { ReplyWriter, WriteContext } from '../codec.ts'
import type { Opaque } from '../conversation.ts'
import { answerId, clientToolName } from '../ids.ts'
import type { ReplyError, ReplyEvent, Stop } from '../reply.ts'
import { PartSequence } from '../sequence.ts'
import { finalReason } from '../stop.ts'
import { writeCitation } from './citations.ts'
import { writeMessagesError } from './errors.ts'
import { writeStop } from './stop.ts'
import { estimatedUsage, writeDeltaUsage } from './usage.ts'
import { mintToolId, sealSigned, signatureOf } from './write-reply.ts'

/** The block that is open. */
interface OpenBlock {
  part: number
  kind: 'text' | 'thinking' | 'tool_use'
  /** null: the block is not a call. */
  callId: string | null
  /** A call of a custom tool, whose text becomes the only member of an object. */
  custom: boolean
  signature: string
  /** What another provider signed the block with; carried by a block of its own. */
  carried: string | null
}

/** Writes Anthropic's events: blocks strictly one after another, and no empty ones. */
export class MessagesStreamWriter implements ReplyWriter {
  readonly #context: WriteContext
  readonly #sequence = new PartSequence()
  #start = { id: '', model: '' }
  #begun = false
  #open: OpenBlock | null = null
  /** White space with which a text begins. A block of nothing else is not written: Anthropic refuses it in the history. */
  #blank = { part: -1, text: '' }
  #blocks = 0
  #calls = 0
  #refusal: string | null = null
  #stop: Stop = { reason: 'done', sequence: null, explanation: null }

  constructor(context: WriteContext) {
    this.#context = context
  }

  events(events: readonly ReplyEvent[]): string {
    const broken = events.find((event) => event.kind === 'stop' && event.stop.reason === 'broken')
    // The broken call stays open: a client may use a block that has ended.
    if (broken !== undefined) return this.#write(broken)
    let written = ''
    for (const event of this.#sequence.order(events)) written += this.#write(event)
    return written
  }

  end(): string {
    if (this.#stop.reason === 'broken') return this.error(brokenAnswer)
    let written = ''
    for (const event of this.#sequence.end()) written += this.#write(event)
    written += this.#begin() + this.#close()
    const usage = this.#context.usage()
    const delta = { ...writeStop(this.#finalStop()), container: null }
    const counts =
      usage === null
        ? { ...unknownUsage, input_tokens: Math.max(1, this.#context.estimatedInput) }
        : writeDeltaUsage(usage)
    return `${written}${line('message_delta', { delta, usage: counts })}${line('message_stop', {})}`
  }

  error(error: ReplyError): string {
    const { body } = writeMessagesError(error, this.#context.requestId)
    return `event: error\ndata: ${JSON.stringify(body)}\n\n`
  }

  #finalStop(): Stop {
    const reason = finalReason(this.#stop.reason, this.#calls > 0)
    if (this.#refusal === null || (reason !== 'done' && reason !== 'refused')) return { ...this.#stop, reason }
    return { ...this.#stop, reason: 'refused', explanation: this.#stop.explanation ?? this.#refusal }
  }

  #write(event: ReplyEvent): string {
    switch (event.kind) {
      case 'start':
        this.#start = event
        return ''
      case 'text':
        return this.#writeText(event.part, event.text)
      case 'refusal':
        this.#refusal = (this.#refusal ?? '') + event.text
        return this.#writeText(event.part, event.text)
      case 'reasoning':
        return this.#writeThinking(event.part, event.text)
      case 'opaque':
        return this.#writeOpaque(event.part, event.opaque)
      case 'call':
        return this.#beginCall(event)
      case 'arguments':
        return this.#writeArguments(event.part, event.text)
      case 'citation':
        return this.#isOpen(event.part, 'text')
          ? this.#delta({ type: 'citations_delta', citation: writeCitation(event.citation) })
          : ''
      case 'part-end':
        return this.#open?.part === event.part ? this.#close() : ''
      case 'stop':
        this.#stop = event.stop
        return ''
      case 'ping':
        return this.#begun ? line('ping', {}) : ''
      default:
        return ''
    }
  }

  #writeText(part: number, text: string): string {
    if (text === '') return ''
    if (this.#isOpen(part, 'text')) return this.#delta({ type: 'text_delta', text })
    const whole = (this.#blank.part === part ? this.#blank.text : '') + text
    if (text.trim() === '') {
      this.#blank = { part, text: whole }
      return ''
    }
    const opened = this.#openBlock(part, 'text', { type: 'text', text: '', citations: null })
    return opened + this.#delta({ type: 'text_delta', text: whole })
  }

  #writeThinking(part: number, text: string): string {
    if (text === '') return ''
    return this.#openThinking(part) + this.#delta({ type: 'thinking_delta', thinking: text })
  }

  #openThinking(part: number): string {
    if (this.#isOpen(part, 'thinking')) return ''
    return this.#openBlock(part, 'thinking', { type: 'thinking', thinking: '', signature: '' })
  }

  /** Sends a signature once, when its block ends; that of a call or text in a block of its own after it. */
  #writeOpaque(part: number, opaque: Opaque): string {
    if (this.#open?.part === part && this.#open.kind !== 'thinking') {
      this.#open.carried = sealSigned(opaque, this.#open.callId, this.#context.carriers)
      return ''
    }
    if (opaque.family === 'anthropic' && opaque.form === 'redacted') {
      const block = { type: 'redacted_thinking', data: opaque.value }
      return this.#openBlock(part, 'text', block) + this.#close()
    }
    const signature = signatureOf(opaque, this.#context.carriers)
    if (signature === '') return ''
    const opened = this.#openThinking(part)
    if (this.#open !== null) this.#open.signature = signature
    return opened
  }

  #beginCall({ part, id, name, custom }: Extract<ReplyEvent, { kind: 'call' }>): string {
    const { conversation, requestId } = this.#context
    const callId = id ?? mintToolId(this.#start.id, requestId, part)
    this.#calls++
    const block = {
      type: 'tool_use',
      id: callId,
      name: clientToolName(conversation, name),
      input: {},
      caller: { type: 'direct' },
    }
    const opened = this.#openBlock(part, 'tool_use', block)
    if (this.#open !== null) this.#open.callId = callId
    if (!custom || this.#open === null) return opened
    this.#open.custom = true
    return opened + this.#delta({ type: 'input_json_delta', partial_json: '{"input":"' })
  }

  #writeArguments(part: number, text: string): string {
    if (text === '' || !this.#isOpen(part, 'tool_use')) return ''
    const piece = this.#open?.custom ? JSON.stringify(text).slice(1, -1) : text
    return this.#delta({ type: 'input_json_delta', partial_json: piece })
  }

  #isOpen(part: number, kind: OpenBlock['kind']): boolean {
    return this.#open?.part === part && this.#open.kind === kind
  }

  #openBlock(part: number, kind: OpenBlock['kind'], block: JsonObject): string {
    const before = this.#begin() + this.#close()
    this.#open = { part, kind, callId: null, custom: false, signature: '', carried: null }
    return before + line('content_block_start', { index: this.#blocks, content_block: block })
  }

  #delta(delta: JsonObject): string {
    return line('content_block_delta', { index: this.#blocks, delta })
  }

  #close(): string {
    if (this.#open === null) return ''
    const { signature, carried, part, custom } = this.#open
    const wrapped = custom ? this.#delta({ type: 'input_json_delta', partial_json: '"}' }) : ''
    const signed = signature === '' ? wrapped : this.#delta({ type: 'signature_delta', signature })
    this.#open = null
    const closed = `${signed}${line('content_block_stop', { index: this.#blocks++ })}`
    if (carried === null) return closed
    return closed + this.#openBlock(part, 'text', { type: 'redacted_thinking', data: carried }) + this.#close()
  }

  #begin(): string {
    if (this.#begun) return ''
    this.#begun = true
    const { requestId, estimatedInput } = this.#context
    const message = {
      id: answerId('msg_', this.#start.id, requestId),
      type: 'message',
      role: 'assistant',
      model: this.#start.model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      stop_details: null,
      container: null,
      usage: estimatedUsage(estimatedInput),
    }
    return line('message_start', { message })
  }
}

function line(type: string, members: JsonObject): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`
}

const unknownUsage = {
  input_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens: 0,
  output_tokens_details: null,
  server_tool_use: null,
}
