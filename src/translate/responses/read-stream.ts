import { asArray, asObject, asString, asText, type JsonObject } from '../../core/json/json-value.ts'
import type { ReplyReader } from '../codec.ts'
import { countOf } from '../json.ts'
import { readLogprobs } from '../logprobs.ts'
import type { ReplyEvent } from '../reply.ts'
import { areArguments, cutsCalls } from '../stop.ts'
import { foreignAnnotations, readCitation } from './citations.ts'
import {
  foreignContent,
  isCall,
  isOpenComment,
  lostOfItem,
  lostOfResponse,
  readEncrypted,
  readOutputItem,
  readStop,
} from './read-reply.ts'

/** What is known of one part: a content part of a message, or an item that is a part by itself. */
interface StreamedPart {
  number: number
  kind: 'text' | 'refusal' | 'reasoning' | 'call'
  /** How much of it has been read. */
  length: number
  /** For a function's call: its arguments so far; null: there is nothing to check. */
  arguments: string | null
  /** For a text: the length of the answer's text before it. */
  base: number
  ended: boolean
  /** For reasoning: the summary that was read last. */
  summary: number
}

/**
 * Servers with OpenAI's API leave events out: what only the done events contain is read from those. Source: wire/streaming.md, section 2.
 */
export class ResponsesStreamReader implements ReplyReader {
  readonly #parts = new Map<string, StreamedPart>()
  #texts = 0
  #started = false
  /** A call came whose arguments are not a JSON object. */
  #isBroken = false
  #isComment = false
  #out: ReplyEvent[] = []

  event(name: string, data: JsonObject): readonly ReplyEvent[] {
    this.#out = []
    this.#read(asText(data.type) ?? name, typeof data.output_index === 'number' ? data : placedByItem(data))
    return this.#out
  }

  end(): readonly ReplyEvent[] {
    return []
  }

  #read(type: string, data: JsonObject): void {
    switch (type) {
      case 'response.created':
      case 'response.in_progress':
        this.#start(asObject(data.response))
        break
      case 'response.output_item.added':
        this.#added(data)
        break
      case 'response.output_text.delta':
        this.#wrote(data, asString(data.delta), data.logprobs)
        break
      case 'response.refusal.delta':
        this.#said(data, 'refusal', asString(data.delta))
        break
      case 'response.reasoning_summary_text.delta':
        this.#thought(data, asString(data.delta), countOf(data.summary_index) ?? 0)
        break
      case 'response.reasoning_text.delta':
        this.#thought(data, asString(data.delta), 0)
        break
      case 'response.function_call_arguments.delta':
      case 'response.custom_tool_call_input.delta':
        this.#argued(data, asString(data.delta))
        break
      case 'response.output_text.annotation.added':
        this.#cited(data)
        break
      case 'response.content_part.done':
        this.#end(`${data.output_index}.${data.content_index ?? 0}`)
        break
      case 'response.output_item.done':
        this.#done(data)
        break
      case 'response.completed':
      case 'response.incomplete':
        this.#stop(asObject(data.response) ?? {})
        break
      default:
        if (!saidAgain.test(type)) this.#drop(/\w+_call|\w+/.exec(type.replace(/^response\./, ''))?.[0] ?? 'event')
    }
  }

  #drop(name: string): void {
    this.#out.push({ kind: 'dropped', name })
  }

  #start(response: JsonObject | null): void {
    if (this.#started || response === null) return
    this.#started = true
    this.#out.push({ kind: 'start', id: asString(response.id), model: asString(response.model) })
  }

  #part(key: string, kind: StreamedPart['kind']): StreamedPart {
    const known = this.#parts.get(key)
    if (known !== undefined) return known
    const part = {
      number: this.#parts.size,
      kind,
      length: 0,
      arguments: null,
      base: this.#texts,
      ended: false,
      summary: 0,
    }
    this.#parts.set(key, part)
    return part
  }

  #added({ item: value, output_index }: JsonObject): void {
    const item = asObject(value) ?? {}
    // A call that is announced twice is one call.
    if (!isCall(item) || this.#parts.has(`${output_index}`)) return
    const custom = item.type === 'custom_tool_call'
    const part = this.#part(`${output_index}`, 'call')
    part.arguments = custom ? null : ''
    const id = asText(item.call_id) ?? asText(item.id)
    this.#out.push({ kind: 'call', part: part.number, id, name: asString(item.name), custom })
  }

  #wrote(place: JsonObject, text: string, written: unknown): void {
    const logprobs = readLogprobs(written)
    if (logprobs === undefined) return this.#said(place, 'text', text)
    const part = this.#part(`${place.output_index}.${place.content_index ?? 0}`, 'text')
    if (part.ended) return
    part.length += text.length
    this.#texts += text.length
    this.#out.push({ kind: 'text', part: part.number, text, logprobs })
  }

  #said({ output_index, content_index }: JsonObject, kind: 'text' | 'refusal', text: string): void {
    const part = this.#part(`${output_index}.${content_index ?? 0}`, kind)
    if (text === '' || part.ended) return
    part.length += text.length
    if (kind === 'text') this.#texts += text.length
    this.#out.push({ kind, part: part.number, text })
  }

  #thought({ output_index }: JsonObject, text: string, summary: number): void {
    const part = this.#part(`${output_index}`, 'reasoning')
    if (text === '' || part.ended) return
    const gap = part.summary !== summary && part.length > 0 ? '\n\n' : ''
    part.summary = summary
    part.length += gap.length + text.length
    this.#out.push({ kind: 'reasoning', part: part.number, text: `${gap}${text}` })
  }

  #argued({ output_index }: JsonObject, text: string): void {
    const part = this.#parts.get(`${output_index}`)
    if (part === undefined || part.ended || text === '') return
    part.length += text.length
    if (part.arguments !== null) part.arguments += text
    this.#out.push({ kind: 'arguments', part: part.number, text })
  }

  #cited({ output_index, content_index, annotation }: JsonObject): void {
    for (const name of foreignAnnotations([annotation])) this.#drop(name)
    const part = this.#parts.get(`${output_index}.${content_index ?? 0}`)
    const citation = part === undefined || part.ended ? null : readCitation(asObject(annotation), part.base)
    if (part !== undefined && citation !== null) this.#out.push({ kind: 'citation', part: part.number, citation })
  }

  #end(key: string): void {
    const part = this.#parts.get(key)
    if (part === undefined || part.ended) return
    part.ended = true
    this.#out.push({ kind: 'part-end', part: part.number })
  }

  /** An unreadable call stays open: a client may make a call that has ended. */
  #endCall(key: string, text: string | null): void {
    if (text !== null && !areArguments(text)) this.#isBroken = true
    else this.#end(key)
  }

  /** An item is complete: reads what no earlier event has said. */
  #done({ item: value, output_index }: JsonObject): void {
    const item = asObject(value) ?? {}
    this.#isComment = isOpenComment(item, this.#isComment)
    switch (item.type) {
      case 'message':
        for (const [index, content] of asArray(item.content).entries()) {
          this.#doneContent(asObject(content) ?? {}, { output_index, content_index: index })
        }
        break
      case 'reasoning':
        this.#doneReasoning(item, output_index)
        break
      case 'function_call':
      case 'custom_tool_call':
        this.#doneCall(item, output_index)
        break
      default:
        return this.#drop(asText(item.type) ?? 'output')
    }
    for (const name of lostOfItem(item)) this.#drop(name)
  }

  #doneContent(content: JsonObject, place: { output_index: unknown; content_index: number }): void {
    const key = `${place.output_index}.${place.content_index}`
    const foreign = foreignContent(content)
    if (foreign !== null) this.#drop(foreign)
    if ((this.#parts.get(key)?.length ?? 0) === 0) {
      if (content.type === 'output_text') {
        this.#wrote(place, asString(content.text), content.logprobs)
        for (const annotation of asArray(content.annotations)) this.#cited({ ...place, annotation })
      } else if (content.type === 'refusal') this.#said(place, 'refusal', asString(content.refusal))
    }
    this.#end(key)
  }

  #doneReasoning(item: JsonObject, index: unknown): void {
    const [read] = readOutputItem(item, '', 0) ?? []
    const opaque = readEncrypted(item)
    const known = this.#parts.get(`${index}`)
    if (known === undefined && read?.kind === 'reasoning') this.#thought({ output_index: index }, read.text, 0)
    if (opaque !== null && known?.ended !== true) {
      this.#out.push({ kind: 'opaque', part: this.#part(`${index}`, 'reasoning').number, opaque })
    }
    this.#end(`${index}`)
  }

  #doneCall(item: JsonObject, index: unknown): void {
    const custom = item.type === 'custom_tool_call'
    const text = asString(custom ? item.input : item.arguments)
    if (!this.#parts.has(`${index}`)) this.#added({ item, output_index: index })
    const part = this.#parts.get(`${index}`)
    if (part?.length === 0) this.#argued({ output_index: index }, text)
    this.#endCall(`${index}`, part?.arguments ?? null)
  }

  #stop(response: JsonObject): void {
    this.#start(response)
    // A server that sends only the beginning and the end, or no events for calls.
    const isSilent = this.#parts.size === 0
    // Not matched by id: vLLM's final event has other ids for calls than the events before.
    const hasCalls = [...this.#parts.values()].some(({ kind }) => kind === 'call')
    for (const [at, value] of asArray(response.output).entries()) {
      const item = asObject(value) ?? {}
      if (isSilent) this.#done({ item, output_index: at })
      else if (!hasCalls && isCall(item)) this.#done({ item, output_index: `end ${at}` })
    }
    for (const [key, part] of this.#parts) this.#endCall(key, part.ended ? null : part.arguments)
    for (const name of lostOfResponse(response)) this.#drop(name)
    if (this.#isComment) this.#drop('message.phase')
    const stop = readStop(response, [...this.#parts.values()])
    const reason = this.#isBroken && !cutsCalls(stop.reason) ? 'broken' : stop.reason
    this.#out.push({ kind: 'stop', stop: { ...stop, reason } })
  }
}

/** Events that repeat or announce others (vLLM: `reasoning_part`), and those about an account's limits. */
const saidAgain =
  /^(?:codex\.rate_limits|response\.(?:queued|done|content_part\.added|reasoning_(?:summary_)?part\.(?:added|done)|(?:output_text|refusal|reasoning_summary_text|reasoning_text|function_call_arguments|custom_tool_call_input)\.done)|keepalive|ping|)$/

/** Where a server leaves out the number of an item, by its id. */
function placedByItem(data: JsonObject): JsonObject {
  const id = asText(data.item_id) ?? asText(asObject(data.item)?.id)
  return id === null ? data : { ...data, output_index: id }
}
