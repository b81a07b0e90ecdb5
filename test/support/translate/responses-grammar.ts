import { asArray, asObject, asText, isCount, type JsonObject } from '../../../src/core/json/json-value.ts'
import { isReadableObject } from './readable-object.ts'
import type { SentEvent } from './sse.ts'

/** OpenAI's Responses. Source: wire/streaming.md, section 2. */
export function checkResponsesStream(events: readonly SentEvent[]): string[] {
  const check = new ResponsesCheck()
  for (const event of events) check.take(event)
  return check.end()
}

interface CheckedItem {
  id: string
  type: string
  /** Of the open content part or summary; null: none is open. */
  open: { kind: string; text: string } | null
  parts: JsonObject[]
  /** Arguments or input. */
  text: string
  isTextDone: boolean
}

const deltas: Readonly<Record<string, string>> = {
  'response.output_text.delta': 'output_text',
  'response.refusal.delta': 'refusal',
  'response.reasoning_summary_text.delta': 'summary_text',
}

class ResponsesCheck {
  readonly #wrong: string[] = []
  #number = 0
  #id = ''
  #item: CheckedItem | null = null
  readonly #done: JsonObject[] = []
  #isOver = false

  take({ name, data }: SentEvent): void {
    if (data === null) {
      this.#wrong.push('an event without JSON')
      return
    }
    if (name === '' || name !== data.type) this.#wrong.push(`the event ${name} has the type ${String(data.type)}`)
    if (data.sequence_number !== this.#number) {
      this.#wrong.push(`${name} has the number ${String(data.sequence_number)} instead of ${this.#number}`)
    }
    if (this.#isOver) this.#wrong.push(`${name} after the end`)
    this.#number++
    this.#read(name, data)
  }

  end(): string[] {
    return this.#isOver ? this.#wrong : [...this.#wrong, 'the stream has no end']
  }

  #read(name: string, data: JsonObject): void {
    switch (name) {
      case 'response.created':
      case 'response.in_progress':
        this.#begin(name, asObject(data.response))
        break
      case 'response.output_item.added':
        this.#added(data)
        break
      case 'response.output_item.done':
        this.#itemDone(data)
        break
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
        this.#over(name, asObject(data.response))
        break
      default:
        this.#within(name, data)
    }
  }

  #expect(is: boolean, what: string): void {
    if (!is) this.#wrong.push(what)
  }

  #begin(name: string, response: JsonObject | null): void {
    const first = name === 'response.created'
    this.#expect(this.#number === (first ? 1 : 2), `${name} in the wrong place`)
    this.#expect(response?.status === 'in_progress' && asArray(response.output).length === 0, `${name} is not fresh`)
    const id = asText(response?.id) ?? ''
    this.#expect(id.startsWith('resp_') && (first || id === this.#id), `${name} has the id ${id}`)
    this.#id = id
  }

  #added({ item: value, output_index }: JsonObject): void {
    const item = asObject(value)
    this.#expect(this.#number > 2, 'an item before the response')
    this.#expect(this.#item === null, 'an item begins before the one before it has ended')
    this.#expect(output_index === this.#done.length, `the item ${String(output_index)} begins out of order`)
    this.#expect(item?.type === 'reasoning' || item?.status === 'in_progress', 'an item begins without its status')
    const [id, type] = [asText(item?.id) ?? '', asText(item?.type) ?? '']
    this.#expect(/^(?:msg|rs|fc|ctc|tsc|ig)_\w+$/.test(id), `an item has the id ${id}`)
    this.#item = { id, type, open: null, parts: [], text: '', isTextDone: false }
  }

  #within(name: string, data: JsonObject): void {
    const item = this.#item
    const isOfItem = item !== null && data.item_id === item.id && data.output_index === this.#done.length
    if (item === null || !isOfItem) {
      this.#wrong.push(`${name} of no open item`)
      return
    }
    const index = data.content_index ?? data.summary_index
    this.#expect(index === undefined || index === item.parts.length, `${name} of the wrong part`)
    if (name.endsWith('part.added')) this.#partAdded(item, data)
    else if (name.endsWith('part.done')) this.#partDone(item, data)
    else if (/^response\.(?:function_call_arguments|custom_tool_call_input)\./.test(name))
      this.#called(item, name, data)
    else if (/^response\.image_generation_call\.(?:in_progress|generating|completed)$/.test(name))
      this.#expect(item.type === 'image_generation_call', `${name} in an item of ${item.type}`)
    else if (name === 'response.output_text.annotation.added') {
      this.#expect(item.open?.kind === 'output_text' && isCount(data.annotation_index), 'an annotation of no text')
    } else this.#said(item, name, data)
  }

  #partAdded(item: CheckedItem, data: JsonObject): void {
    const part = asObject(data.part)
    this.#expect(item.open === null, 'a part begins before the one before it has ended')
    this.#expect((part?.text ?? part?.refusal) === '', 'a part begins with text')
    item.open = { kind: asText(part?.type) ?? '', text: '' }
  }

  #partDone(item: CheckedItem, data: JsonObject): void {
    const part = asObject(data.part) ?? {}
    this.#expect(item.open !== null && item.open.text === (part.text ?? part.refusal), 'a part ends with other text')
    this.#expect(item.open?.text !== '', 'an empty part')
    item.open = null
    item.parts.push(part)
  }

  #said(item: CheckedItem, name: string, data: JsonObject): void {
    const kind = deltas[name] ?? deltas[name.replace(/done$/, 'delta')]
    this.#expect(kind !== undefined, `the event ${name} is not known`)
    this.#expect(item.open?.kind === kind, `${name} outside of a part of its kind`)
    if (item.open === null) return
    if (name.endsWith('delta')) item.open.text += String(data.delta)
    else this.#expect((data.text ?? data.refusal) === item.open.text, `${name} has other text than its deltas`)
  }

  #called(item: CheckedItem, name: string, data: JsonObject): void {
    const type = name.includes('function') ? 'function_call' : 'custom_tool_call'
    this.#expect(item.type === type && !item.isTextDone, `${name} in an item of ${item.type}`)
    if (name.endsWith('delta')) item.text += String(data.delta)
    else {
      item.isTextDone = true
      this.#expect((data.arguments ?? data.input) === item.text, `${name} has other text than its deltas`)
    }
  }

  #itemDone({ item: value, output_index }: JsonObject): void {
    const [item, open] = [asObject(value) ?? {}, this.#item]
    this.#expect(
      open !== null && item.id === open.id && output_index === this.#done.length,
      'an item ends out of order',
    )
    this.#expect(open?.open === null, 'an item ends before its part')
    const isCall = open?.type === 'function_call' || open?.type === 'custom_tool_call'
    if (isCall) {
      this.#expect(open.isTextDone && (item.arguments ?? item.input) === open.text, 'a call ends with other arguments')
      this.#expect(asText(item.call_id) !== null && asText(item.name) !== null, 'a call without id or name')
      const isReadable = open.type === 'custom_tool_call' || isReadableObject(open.text)
      this.#expect(isReadable === (item.status === 'completed'), 'the status of a call is wrong')
    } else if (open?.type === 'image_generation_call') {
      this.#expect(asText(item.result) !== null && item.status === 'completed', 'an image is not whole')
    } else if (open?.type === 'tool_search_call') {
      const isWhole = asText(item.call_id) !== null && asObject(item.arguments) !== null && item.execution === 'client'
      this.#expect(isWhole, 'a search for tools is not whole')
    } else {
      const parts = JSON.stringify(item.content ?? item.summary)
      this.#expect(parts === JSON.stringify(open?.parts), 'an item ends with other parts')
    }
    this.#done.push(item)
    this.#item = null
  }

  #over(name: string, response: JsonObject | null): void {
    this.#isOver = true
    this.#expect(response?.id === this.#id, `${name} has another id`)
    this.#expect(`response.${String(response?.status)}` === name, `${name} has the status ${String(response?.status)}`)
    this.#expect(JSON.stringify(response?.output) === JSON.stringify(this.#done), `${name} has other items`)
    const isFailed = name === 'response.failed'
    this.#expect(isFailed || this.#item === null, 'the end comes before the end of an item')
    this.#expect((asObject(response?.error) !== null) === isFailed, `${name} and its error do not fit`)
    const reason = asObject(response?.incomplete_details)?.reason
    this.#expect((asText(reason) !== null) === (name === 'response.incomplete'), `${name} and its reason do not fit`)
    this.#expect(response?.store === false, `${name} says that it is stored`)
  }
}
