import { createHash } from 'node:crypto'
import { asArray, asObject, asObjects, asText, type JsonObject } from '../../core/json/json-value.ts'
import type { ObjectScope } from '../../core/objects/stored-object.ts'
import { parseLossless } from '../../translate/json.ts'
import type { Gateway } from '../gateway.ts'
import type { MemoryHolder } from '../request/memory-budget.ts'

/** A response that the gateway keeps because its provider does not, with the model's input. */
export interface KeptResponse {
  /** As the client got it. */
  response: JsonObject
  /** Ids of the responses before it, oldest first: the last ones, of which the first says what was before that. */
  before: readonly string[]
  /** The items of its own request. */
  input: readonly JsonObject[]
}

export interface FoundResponse extends KeptResponse {
  id: string
  /** Epoch milliseconds. */
  expiresAt: number
}

/** What is read for one request, whose memory it takes. */
export interface KeptReading {
  body: MemoryHolder & { bytes: Buffer }
  /** So far. */
  length: number
}

/** The part of a request's conversation that is kept already. */
export interface KeptBefore {
  /** The response that the request continues; null: it only names items. */
  previous: string | null
  /** That response and those before it, oldest first. */
  ids: readonly string[]
  /** How many items of the body came from them. */
  items: number
  /** Every kept response that the request uses. */
  used: readonly FoundResponse[]
}

/** The owner of a kept response. */
export type KeptScope = Pick<ObjectScope, 'projectId' | 'environmentId'>

/** The largest response that is kept, since it takes one journal entry. */
const longest = 900_000
/** The store is a thread of this process, but a node of a cluster also asks the others, and waits a second for each round. */
const withinMs = 2500
/** Responses read at once: each may have the largest size, and their total is only known afterwards. */
const readAtOnce = 50
/** How many ids a response names at most, so that a conversation takes no more than its length. Earlier versions named all. */
const mostNamed = readAtOnce

/** Of all responses of a conversation, those that the one behind them names. */
export function namedBefore(ids: readonly string[]): readonly string[] {
  return ids.slice(Math.floor(Math.max(ids.length - 1, 0) / mostNamed) * mostNamed)
}

/** Written in place of the sealed response when it is deleted. */
const forgotten = ''

/**
 * Stores kept responses. They are journaled before the client learns the id and read from the store, so every thread has them, even after a
 * crash. Their names are digests of scope and id, and only the gateway can open them. Only this class reads and writes them.
 */
export class KeptResponses {
  readonly #gateway: Gateway

  constructor(gateway: Gateway) {
    this.#gateway = gateway
  }

  /** False: it is too long. Its items can be named too, since clients expect items of stored responses to exist. */
  keep(requestId: string, scope: KeptScope, kept: KeptResponse, expiresAt: number): boolean {
    const payload = JSON.stringify(kept)
    const id = asText(kept.response.id)
    if (id === null || Buffer.byteLength(payload) > longest) return false
    this.#write(requestId, nameOf(scope, 'response', id), payload, expiresAt)
    for (const item of asArray(kept.response.output)) {
      const itemId = asText(asObject(item)?.id)
      if (itemId !== null) this.#write(requestId, nameOf(scope, 'item', itemId), id, expiresAt)
    }
    return true
  }

  forget(requestId: string, scope: KeptScope, { id, expiresAt }: FoundResponse): void {
    const name = nameOf(scope, 'response', id)
    void this.#gateway.journal.append({ kind: 'reasoning', requestId, name, expiresAt, sealed: forgotten })
  }

  /**
   * By id, those of the scope only. Null: the store does not answer; `long`: all that was read for the request is longer than a request may
   * be; `full`: no memory is left.
   */
  async find(
    scope: KeptScope,
    ids: readonly string[],
    reading: KeptReading,
  ): Promise<Map<string, FoundResponse> | 'long' | 'full' | null> {
    const found = new Map<string, FoundResponse>()
    const { body } = reading
    for (let from = 0; from < ids.length; from += readAtOnce) {
      const opened = await this.#open(scope, 'response', ids.slice(from, from + readAtOnce))
      if (opened === null) return null
      for (const [id, { payload, expiresAt }] of opened) {
        reading.length += payload.length
        const kept = readKept(payload)
        if (kept !== null) found.set(id, { ...kept, id, expiresAt })
      }
      if (reading.length > this.#gateway.settings.bodyLimit) return 'long'
      if (!this.#gateway.memoryBudget.reserve(body, body.bytes.length + reading.length)) return 'full'
    }
    return found
  }

  /** The ids of the responses that contain these items, by item id. */
  async findItems(scope: KeptScope, ids: readonly string[]): Promise<Map<string, string> | null> {
    const opened = await this.#open(scope, 'item', ids)
    return opened === null ? null : new Map([...opened].map(([id, { payload }]) => [id, payload]))
  }

  async #open(scope: KeptScope, type: NamedType, ids: readonly string[]) {
    const opened = new Map<string, { payload: string; expiresAt: number }>()
    if (ids.length === 0) return opened
    const names = new Map(ids.map((id) => [nameOf(scope, type, id), id]))
    const reply = await this.#gateway.objects.reasoning([...names.keys()], true, withinMs)
    if (reply === null || !reply.certain) return null
    const { tokens } = this.#gateway.model.configuration
    for (const [name, id] of names) {
      const token = tokens.open('response', reply.found[name] ?? forgotten, Date.now())
      if (token.state === 'open') opened.set(id, token)
    }
    return opened
  }

  #write(requestId: string, name: string, payload: string, expiresAt: number): void {
    const sealed = this.#gateway.model.configuration.tokens.seal('response', payload, expiresAt)
    void this.#gateway.journal.append({ kind: 'reasoning', requestId, name, expiresAt, sealed })
  }
}

type NamedType = 'response' | 'item'

function nameOf({ projectId, environmentId }: KeptScope, type: NamedType, id: string): string {
  const parts = JSON.stringify([type, projectId, environmentId, id])
  return createHash('sha256').update(parts).digest('base64url')
}

function readKept(payload: string): KeptResponse | null {
  const kept = asObject(parseLossless(payload))
  const response = asObject(kept?.response)
  if (kept === null || response === null) return null
  return {
    response,
    before: asArray(kept.before).filter((id) => typeof id === 'string'),
    input: asObjects(kept.input),
  }
}
