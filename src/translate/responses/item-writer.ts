import type { JsonObject } from '../../core/json/json-value.ts'
import { packReasoning } from '../carried-reasoning.ts'
import type { WriteContext } from '../codec.ts'
import type { Citation, Opaque, TokenLogprob } from '../conversation.ts'
import { customToolNames } from '../custom-tools.ts'
import { clientToolName, findTool } from '../ids.ts'
import type { ReplyEvent, Stop } from '../reply.ts'
import { CallItem } from './call-item.ts'
import { writeImage } from './image-item.ts'
import { type EmitEvent, type ItemPlace, MessageItem, noLogprobs } from './message-item.ts'
import { ReasoningItem } from './reasoning-item.ts'
import type { ResponseIds } from './response-ids.ts'

/** Builds the items of an answer from its events. A message stays open for the texts that follow; every other item ends with its part. */
export class ItemWriter {
  readonly #context: WriteContext
  readonly #ids: ResponseIds
  readonly #emit: EmitEvent
  readonly #customTools: ReadonlySet<string>
  readonly #asksLogprobs: boolean
  readonly #output: JsonObject[] = []
  #open: MessageItem | ReasoningItem | CallItem | null = null
  #opaque: Opaque | null = null
  /** For whole parts, whose text is only known at their end: Anthropic may send the citations before. */
  readonly #citations: { part: number; citation: Citation }[] = []
  /** The length of the answer's text so far. */
  #texts = 0
  #refused = false

  constructor(context: WriteContext, ids: ResponseIds, emit: EmitEvent) {
    this.#context = context
    this.#ids = ids
    this.#emit = emit
    this.#customTools = customToolNames(context.conversation)
    this.#asksLogprobs = context.conversation.settings.logprobs !== null
  }

  /** The finished items. */
  get output(): readonly JsonObject[] {
    return this.#output
  }

  take(event: ReplyEvent): void {
    switch (event.kind) {
      case 'text':
      case 'refusal':
        this.#say(
          event.kind,
          event.part,
          event.text,
          this.#asksLogprobs && event.kind === 'text' ? event.logprobs : noLogprobs,
        )
        break
      case 'reasoning':
        if (event.text !== '') this.#reasoning().add(event.text)
        break
      case 'opaque':
        this.#opaque = event.opaque
        break
      case 'call':
        this.#call(event.id, event.name, event.custom)
        break
      case 'arguments':
        if (this.#open instanceof CallItem) this.#open.add(event.text)
        break
      case 'image':
        this.#image(event)
        break
      case 'citation':
        if (event.citation.start === null) this.#citations.push(event)
        else if (this.#open instanceof MessageItem) this.#open.cite(event.part, event.citation)
        break
      case 'part-end':
        this.#endPart()
    }
  }

  /** All items of a finished answer. A refusal without text gets one, so that a client can tell it from an empty answer. */
  end({ reason, explanation }: Stop): readonly JsonObject[] {
    if (reason === 'refused' && !this.#refused) this.#say('refusal', -1, explanation ?? 'The model refused to answer.')
    // A filter's explanation for a prompt that it blocked.
    const isEmpty = this.#output.length === 0 && this.#open === null
    if (reason === 'filtered' && isEmpty) this.#say('refusal', -1, explanation ?? '')
    this.#close(reason === 'length' || reason === 'context' || reason === 'filtered')
    return this.#output
  }

  #say(kind: 'text' | 'refusal', part: number, text: string, logprobs: readonly TokenLogprob[] = noLogprobs): void {
    if (text === '' && logprobs.length === 0) return
    if (!(this.#open instanceof MessageItem)) this.#close()
    this.#open ??= new MessageItem(this.#place('msg'), this.#emit)
    if (this.#open instanceof MessageItem) this.#open.add({ kind, part, text, logprobs }, this.#texts)
    if (kind === 'text') this.#texts += text.length
    else this.#refused = true
  }

  #reasoning(): ReasoningItem {
    if (this.#open instanceof ReasoningItem) return this.#open
    this.#close()
    const item = new ReasoningItem(this.#place('rs'), this.#emit)
    this.#open = item
    return item
  }

  #call(id: string | null, written: string, isCustom: boolean): void {
    this.#close()
    const name = clientToolName(this.#context.conversation, written)
    const custom = isCustom || this.#customTools.has(name)
    const tool = findTool(this.#context.conversation, name)
    const findsTools = tool?.findsTools === true
    const head = {
      id: id ?? this.#ids.call(this.#output.length),
      ...(tool?.within ?? { name }),
      custom,
      findsTools,
      wrapped: custom && !isCustom,
    }
    this.#open = new CallItem(this.#place(findsTools ? 'tsc' : custom ? 'ctc' : 'fc'), head, this.#emit)
  }

  #image({ type, data, opaque }: Extract<ReplyEvent, { kind: 'image' }>): void {
    this.#close()
    this.#output.push(writeImage(this.#place('ig'), { type, data }, this.#emit))
    this.#opaque = opaque ?? null
  }

  #endPart(): void {
    const opaque = this.#opaque
    const item = this.#open
    if (item instanceof MessageItem) {
      this.#cite(item)
      item.endPart()
      // Gemini signs texts too.
      if (opaque?.form === 'thought') this.#close()
    } else if (item !== null) this.#close()
    this.#opaque = null
    // Redacted or encrypted reasoning has nothing to show, and is a part of its own.
    if (opaque !== null && !(item instanceof ReasoningItem))
      this.#carry(opaque, item instanceof CallItem ? item.id : null)
  }

  #cite(item: MessageItem): void {
    for (const { part, citation } of this.#citations.splice(0)) item.cite(part, citation)
  }

  /**
   * Adds an item that only carries a signature. Signatures of calls and texts have no other place here: the item follows what it belongs
   * to, and names the call.
   */
  #carry({ id, ...opaque }: Opaque, callId: string | null): void {
    const owner = opaque.form === 'thought' ? callId : (id ?? null)
    const sealed = this.#seal(packReasoning(owner === null ? opaque : { ...opaque, id: owner }, ''))
    if (sealed === null) return
    this.#close()
    this.#output.push(new ReasoningItem(this.#place('rs'), this.#emit).end(sealed))
  }

  /** Only clients that asked for it send it back. */
  #seal(opaque: Opaque): string | null {
    const { conversation, carriers } = this.#context
    return conversation.settings.reasoning?.encrypted === true ? carriers.seal(opaque) : null
  }

  #close(isIncomplete = false): void {
    const item = this.#open
    this.#open = null
    if (item instanceof MessageItem) this.#output.push(item.end(isIncomplete ? 'incomplete' : 'completed'))
    else if (item instanceof CallItem) this.#output.push(item.end())
    else if (item !== null) {
      const sealed = this.#opaque === null ? null : this.#seal(packReasoning(this.#opaque, item.text))
      this.#output.push(item.end(sealed))
    }
  }

  #place(prefix: 'msg' | 'rs' | 'fc' | 'ctc' | 'tsc' | 'ig'): ItemPlace {
    const output_index = this.#output.length
    return { item_id: this.#ids.item(prefix, output_index), output_index }
  }
}
