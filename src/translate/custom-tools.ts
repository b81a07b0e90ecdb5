import { asObject, asText, type JsonObject } from '../core/json/json-value.ts'
import type { Conversation, Tool } from './conversation.ts'

/**
 * Custom (freeform) tools take plain text. Formats without them get a function with this one string parameter, and the text is extracted
 * from the calls.
 */
const member = 'input'

/** The function's parameters. A grammar cannot be enforced there, but the model can still read it. */
export function customToolSchema(tool: Tool): JsonObject {
  const grammar = asText(asObject(flatGrammar(tool.grammar))?.definition)
  const described = 'The whole input of the tool, as plain text.'
  const description = grammar === null ? described : `${described} It follows this grammar:\n${grammar}`
  return {
    type: 'object',
    properties: { [member]: { type: 'string', description } },
    required: [member],
    additionalProperties: false,
  }
}

/** The format of a custom tool in Responses; chat has the grammar one level deeper. */
export function flatGrammar(format: unknown): unknown {
  const grammar = asObject(asObject(format)?.grammar)
  return grammar === null ? format : { type: 'grammar', ...grammar }
}

/** The format as chat has it. */
export function nestedGrammar(format: unknown): unknown {
  const { type, ...grammar } = asObject(format) ?? {}
  return type === 'grammar' && grammar.grammar === undefined ? { type, grammar } : format
}

/** The function's arguments as JSON text. */
export function wrapCustomInput(text: string): string {
  return JSON.stringify({ [member]: text })
}

/** The names of the client's custom tools: calls to these are written as calls of custom tools. */
export function customToolNames({ tools }: Conversation): ReadonlySet<string> {
  return new Set(tools.filter(({ kind }) => kind === 'custom').map(({ name }) => name))
}

/** The text in a function's arguments. Models do not always keep to the schema: anything but such an object is the text itself. */
export function unwrapCustomInput(json: string): string {
  const value = parse(json)
  if (typeof value === 'string') return value
  const object = asObject(value)
  if (object === null) return json
  const named = object[member]
  if (typeof named === 'string') return named
  const [only, ...others] = Object.values(object)
  return typeof only === 'string' && others.length === 0 ? only : json
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

const opening = /^\s*\{\s*"input"\s*:\s*"/

const longestOpening = 1024

/** Extracts a custom tool's text from arguments that arrive in pieces, and passes it on as it arrives. */
export class CustomInputDecoder {
  #json = ''
  /** Where decoding continues once the string has begun; -1: it has not. */
  #at = -1
  #ended = false

  /** Returns the text that is certain so far. */
  push(piece: string): string {
    this.#json += piece
    if (this.#at < 0) {
      // Arguments that begin with anything but white space and the name do not have this form.
      const found = this.#json.length > longestOpening + piece.length ? null : opening.exec(this.#json)
      if (found === null) return ''
      this.#at = found[0].length
    }
    return this.#decode()
  }

  /** The rest when no more pieces arrive: nothing, unless the arguments had another form. */
  end(): string {
    return this.#at < 0 && this.#json !== '' ? unwrapCustomInput(this.#json) : ''
  }

  #decode(): string {
    let text = ''
    while (!this.#ended) {
      const character = this.#json[this.#at]
      if (character === undefined) break
      this.#ended = character === '"'
      const length = this.#ended ? 0 : character === '\\' ? this.#escapeLength() : this.#plainLength()
      if (length === 0) break
      const taken = this.#json.slice(this.#at, this.#at + length)
      text += character === '\\' ? decodeEscape(taken) : taken
      this.#at += length
    }
    // Decoded text is removed, or each piece would be joined to all before it.
    this.#json = this.#json.slice(this.#at)
    this.#at = 0
    return text
  }

  #plainLength(): number {
    let at = this.#at
    while (at < this.#json.length && this.#json[at] !== '"' && this.#json[at] !== '\\') at++
    return at - this.#at
  }

  /** 0: it is incomplete. */
  #escapeLength(): number {
    const length = this.#json[this.#at + 1] === 'u' ? 6 : 2
    return this.#at + length <= this.#json.length ? length : 0
  }
}

function decodeEscape(written: string): string {
  const value = parse(`"${written}"`)
  return typeof value === 'string' ? value : written
}
