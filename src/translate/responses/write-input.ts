import type { JsonObject } from '../../core/json/json-value.ts'
import type { TranslationTarget } from '../codec.ts'
import type { CacheMark, MediaPart, Opaque, ReasoningPart, RefusalPart, TextPart } from '../conversation.ts'
import { wrapCustomInput } from '../custom-tools.ts'
import { writeDataUrl } from '../data-url.ts'
import { fileNameFor } from '../file-name.ts'
import { callIdFor, toolNameFor } from '../ids.ts'
import { embedTurns } from '../json.ts'
import type { Ledger } from '../ledger.ts'
import { namedText, sniffType, storedElsewhere } from '../media-type.ts'
import { modelFacts } from '../model-facts.ts'
import { cacheMarkPath, failurePath } from '../setting-paths.ts'
import { isMedia, type NamedCall, type NamedResult, type OrderedTurn, type OrderedTurns } from '../turns.ts'

type TurnPart = OrderedTurn['parts'][number]

/** Of a text before a call. Any other is the final answer, which goes without saying. */
const onTheWay = { phase: 'commentary' }

export function writeInput({ system, turns }: OrderedTurns, target: TranslationTarget, ledger: Ledger): unknown[] {
  return new InputWriter(target, ledger).write(system, turns)
}

class InputWriter {
  readonly #target: TranslationTarget
  readonly #ledger: Ledger
  readonly #items: unknown[] = []
  /** Ids of calls of custom tools: their results have a type of their own. */
  readonly #custom = new Set<string>()
  readonly #phases: boolean
  #signed = false

  constructor(target: TranslationTarget, ledger: Ledger) {
    this.#target = target
    this.#ledger = ledger
    this.#phases = !target.compatible && modelFacts(target.model).phases
  }

  write(system: readonly TextPart[], turns: readonly OrderedTurn[]): unknown[] {
    if (system.length > 0)
      this.#message(
        this.#systemRole,
        system.map((part) => this.#content(part)),
      )
    for (const { role, parts, plain } of turns) {
      if (plain !== undefined) this.#items.push(embedTurns(plain, 'responses'))
      else if (role === 'assistant') this.#assistant(parts)
      else this.#user(role === 'system' ? this.#systemRole : 'user', parts)
    }
    return this.#items
  }

  /** Servers with OpenAI's API may not know the newer name. */
  get #systemRole(): string {
    return this.#target.compatible ? 'system' : 'developer'
  }

  #message(role: string, content: readonly JsonObject[], phase: JsonObject = {}): void {
    if (content.length > 0) this.#items.push({ type: 'message', role, content, ...phase })
  }

  #user(role: string, parts: readonly TurnPart[]): void {
    for (const part of parts) if (part.kind === 'result') this.#items.push(this.#result(part))
    const content = parts.flatMap((part) => {
      if (part.kind === 'text' || part.kind === 'refusal' || isMedia(part)) return [this.#content(part)]
      if (part.kind !== 'result') this.#ledger.lose(part.path)
      return []
    })
    this.#message(role, content)
  }

  /** Reasoning, texts and calls are items of their own, in the order in which the model made them. */
  #assistant(parts: readonly TurnPart[]): void {
    let texts: JsonObject[] = []
    const lastCall = this.#phases ? parts.findLastIndex(({ kind }) => kind === 'call') : -1
    const flush = (next: number) => {
      this.#message('assistant', texts, next <= lastCall ? onTheWay : {})
      texts = []
    }
    for (const [index, part] of parts.entries()) {
      if (part.kind === 'text' || part.kind === 'refusal') {
        texts.push(this.#said(part))
        continue
      }
      flush(index)
      if (part.kind === 'call') this.#call(part)
      else if (part.kind === 'reasoning') this.#reasoning(part)
      else if (isMedia(part)) {
        this.#ledger.refuse(part.path, 'a turn of the assistant holds no images or files there')
      } else this.#ledger.lose(part.path)
    }
    flush(parts.length)
  }

  #said(part: TextPart | RefusalPart): JsonObject {
    this.#loseMark(part)
    return part.kind === 'text'
      ? { type: 'output_text', text: part.text, annotations: [] }
      : { type: 'refusal', refusal: part.text }
  }

  #reasoning({ text, opaque, path }: ReasoningPart): void {
    // OpenAI rejects reasoning that it did not encrypt itself, and it must not become a text of an answer.
    if (opaque?.form !== 'encrypted') {
      this.#ledger.lose(path)
      return
    }
    this.#items.push({
      type: 'reasoning',
      ...(opaque.id !== undefined && { id: opaque.id }),
      summary: text === '' ? [] : [{ type: 'summary_text', text }],
      encrypted_content: opaque.value,
    })
  }

  #call({ id, custom, opaque, path, ...call }: NamedCall): void {
    const name = toolNameFor('responses', call.name)
    this.#loseMark({ path, ...call })
    if (opaque !== undefined) this.#loseSignature(opaque, path)
    const call_id = callIdFor('responses', id)
    if (custom && !this.#target.compatible) {
      this.#custom.add(id)
      this.#items.push({ type: 'custom_tool_call', call_id, name, input: call.arguments })
      return
    }
    const plain = call.arguments.trim() === '' ? '{}' : call.arguments
    const text = custom ? wrapCustomInput(call.arguments) : plain
    this.#items.push({ type: 'function_call', call_id, name, arguments: text })
  }

  /** From another provider: one loss covers all calls. */
  #loseSignature({ form }: Opaque, path: string): void {
    if (!this.#signed && form !== 'encrypted') this.#ledger.lose(path)
    this.#signed = true
  }

  #result(part: NamedResult): JsonObject {
    if (part.failed) this.#ledger.lose(failurePath(this.#ledger.from, part.path))
    const type = this.#custom.has(part.callId) ? 'custom_tool_call_output' : 'function_call_output'
    return { type, call_id: callIdFor('responses', part.callId), output: this.#output(part) }
  }

  /** There is no flag for a failure, so the text says it. */
  #output(result: NamedResult): string | JsonObject[] {
    const { failed } = result
    const parts = this.#markedParts(result)
    const [first, ...others] = parts
    const prefix = failed ? 'Error: ' : ''
    const marked = parts.some(({ cacheMark }) => cacheMark !== undefined)
    if (first === undefined) return prefix.trimEnd()
    if (first.kind === 'text' && others.length === 0 && !marked) return `${prefix}${first.text}`
    const content = parts.map((part) => this.#content(part))
    return failed ? [{ type: 'input_text', text: prefix.trimEnd() }, ...content] : content
  }

  /** A result's mark moves to its last content part. */
  #markedParts(result: NamedResult): NamedResult['parts'] {
    const { parts, cacheMark } = result
    const last = parts.at(-1)
    if (cacheMark === undefined || last === undefined || this.#target.compatible) {
      this.#loseMark(result)
      return parts
    }
    return [...parts.slice(0, -1), { ...last, cacheMark }]
  }

  #content(part: TextPart | RefusalPart | MediaPart): JsonObject {
    const mark = this.#mark(part)
    if (part.kind === 'text' || part.kind === 'refusal') return { type: 'input_text', text: part.text, ...mark }
    if (part.kind === 'image') return { ...this.#image(part), ...mark }
    if (part.kind === 'file') return { ...this.#file(part), ...mark }
    this.#ledger.refuse(part.path, `it accepts no ${part.kind}`)
    return {}
  }

  #image({ source, detail = 'auto', path }: MediaPart): JsonObject {
    const image = { type: 'input_image', detail }
    if (source.kind === 'id') return { ...image, ...this.#stored(path, source.id) }
    return {
      ...image,
      image_url: source.kind === 'url' ? source.url : writeDataUrl(sniffType(source.type, source.data), source.data),
    }
  }

  #file({ source, name, path }: MediaPart): JsonObject {
    const file = { type: 'input_file', ...(name !== undefined && { filename: name }) }
    switch (source.kind) {
      case 'id':
        return { ...file, ...this.#stored(path, source.id) }
      case 'url':
        return { ...file, file_url: source.url }
      case 'data': {
        const type = sniffType(source.type, source.data)
        const filename = fileNameFor(type, name ?? nameOf(path))
        return { ...file, filename, file_data: writeDataUrl(type, source.data) }
      }
      case 'text':
        return { type: 'input_text', text: namedText(name, source.data) }
    }
  }

  /** Files of chat are not stored where those of Responses are. */
  #stored(path: string, id: string): JsonObject {
    if (this.#ledger.from !== 'chat') this.#ledger.refuse(path, storedElsewhere)
    return { file_id: id }
  }

  #mark(part: { path: string; cacheMark?: CacheMark }): JsonObject {
    const { cacheMark } = part
    if (cacheMark === undefined) return {}
    if (this.#target.compatible) {
      this.#loseMark(part)
      return {}
    }
    // OpenAI only has two lifetimes: the next longer one is used.
    return {
      prompt_cache_breakpoint: { mode: 'explicit', ttl: cacheMark === '1h' || cacheMark === '12h' ? '12h' : '30m' },
    }
  }

  #loseMark({ path, cacheMark }: { path: string; cacheMark?: CacheMark }): void {
    if (cacheMark !== undefined) this.#ledger.lose(cacheMarkPath(this.#ledger.from, path))
  }
}

/** A file must have a name; the same file always gets the same. */
function nameOf(path: string): string {
  return `file-${path.replace(/\W+/g, '-').replace(/-$/, '')}`
}
