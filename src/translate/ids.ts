import { hash } from 'node:crypto'
import { type FormatName, formatNames } from '../core/format.ts'
import type { Conversation, Tool } from './conversation.ts'

/** Ids of calls that providers of a format accept. Generate needs none. */
const accepted: Readonly<Record<FormatName, RegExp>> = {
  // Some compatible servers use ids such as `functions.read:0`, and expect them back.
  chat: /^[\x21-\x7e]{1,40}$/,
  responses: /^[\w-]{1,64}$/,
  messages: /^[\w-]{1,64}$/,
  generate: /^[\x21-\x7e]{1,64}$/,
}

/** The id in a call and in its result, the same in every turn. Ids that the provider accepts stay as they are. */
export function callIdFor(format: FormatName, id: string): string {
  return accepted[format].test(id) ? id : `sp_${digest(id)}`.slice(0, 40)
}

/** Of a shortened name's end. */
const digestLength = 8

const toolNames: Readonly<Record<FormatName, RegExp>> = {
  chat: /^[\w-]{1,64}$/,
  responses: /^[\w-]{1,64}$/,
  messages: /^[\w-]{1,128}$/,
  generate: /^[A-Za-z_][\w.:-]{0,127}$/,
}

/** A tool's name in a form that the format's providers accept: a name that they would reject is shortened, and stays unique. */
export function toolNameFor(format: FormatName, name: string): string {
  if (toolNames[format].test(name)) return name
  const written = `${name.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 48)}_${digest(name).slice(0, digestLength)}`
  // Gemini's do not begin with a digit.
  return toolNames[format].test(written) ? written : `_${written}`
}

/** One request's tools by their names: both they and the calls of an answer may be thousands. */
class NamedTools {
  readonly byName: ReadonlyMap<string, Tool>
  /** By the end of a shortened name, those that it may stand for. */
  #byDigest: ReadonlyMap<string, readonly string[]> | null = null

  constructor(tools: Conversation['tools']) {
    // The first of a name counts.
    this.byName = new Map(tools.toReversed().map((tool) => [tool.name, tool]))
  }

  static of(tools: Conversation['tools']): NamedTools {
    const known = namedTools.get(tools) ?? new NamedTools(tools)
    namedTools.set(tools, known)
    return known
  }

  original(written: string): string | undefined {
    this.#byDigest ??= Map.groupBy(this.byName.keys(), (name) => digest(name).slice(0, digestLength))
    const mayBe = this.#byDigest.get(written.slice(-digestLength))
    return mayBe?.find((name) => formatNames.some((format) => toolNameFor(format, name) === written))
  }
}

const namedTools = new WeakMap<Conversation['tools'], NamedTools>()

/** The client's own name of a tool that the model has called by the name that it was given. */
export function clientToolName({ tools }: Pick<Conversation, 'tools'>, name: string): string {
  if (!/_[a-z2-7]{8}$/.test(name)) return name
  const named = NamedTools.of(tools)
  return named.byName.has(name) ? name : (named.original(name) ?? name)
}

/** By the client's own name. */
export function findTool({ tools }: Pick<Conversation, 'tools'>, name: string): Tool | undefined {
  return NamedTools.of(tools).byName.get(name)
}

/** OpenAI accepts 64 characters. A longer id, as agents send them, is replaced by a digest that still tells users apart. */
export function endUserFor(endUser: string): string {
  return endUser.length > 64 ? mintId('user_', endUser) : endUser
}

/** An id for something that has none: the same seed gives the same id. */
export function mintId(prefix: string, ...seed: readonly (string | number)[]): string {
  return `${prefix}${digest(seed.join('\n')).slice(0, 24)}`
}

/** An answer's id in the client's format. `id`: the provider's, whose prefix is removed. */
export function answerId(prefix: string, id: string, requestId: string): string {
  const bare = id.replace(/^(?:chatcmpl|msg|resp|gen|cmpl)[-_]/, '')
  return /^[\w-]{8,64}$/.test(bare) ? `${prefix}${bare}` : mintId(prefix, id, requestId)
}

const alphabet = 'abcdefghijklmnopqrstuvwxyz234567'

/** Base32 of the SHA-256, 52 characters. */
function digest(text: string): string {
  let written = ''
  let bits = 0
  let value = 0
  for (const byte of hash('sha256', text, 'buffer')) {
    value = (value << 8) | byte
    bits += 8
    while (bits >= 5) {
      bits -= 5
      written += alphabet[(value >> bits) & 31]
    }
    value &= (1 << bits) - 1
  }
  return bits > 0 ? written + alphabet[(value << (5 - bits)) & 31] : written
}
