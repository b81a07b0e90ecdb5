import { createHash } from 'node:crypto'
import type { FormatName } from '../../core/format.ts'
import { asArray, asObject, asString, parseJson } from '../../core/json/json-value.ts'
import type { Opaque } from '../../translate/conversation.ts'
import { modelFacts } from '../../translate/model-facts.ts'
import { familyOf } from '../../translate/own-reasoning.ts'
import type { Gateway } from '../gateway.ts'
import type { Call } from '../request/call.ts'
import { readOpaque } from './opaque-form.ts'

const lifeMs = 7 * 24 * 60 * 60_000
/** Bytes of one turn. */
const longest = 256 * 1024
/** Bytes on one thread. */
const mostBytes = 16 * 1024 * 1024
/** Memory of an entry in addition to its text. */
const entryCost = 128
/** How long a request waits for the store: if its provider may refuse it otherwise, and if it can do without. */
const neededMs = 500
const usefulMs = 50
/** Stored in place of a seal: the model signed nothing before this call. */
const thoughtNothing = '-'

/** The model's reasoning before a tool call, and the signature of the call itself. */
export interface TurnReasoning {
  /** In order. `first`: before any text. */
  before: readonly { text: string; opaque: Opaque; first: boolean }[]
  own: Opaque | null
}

/** The owner of reasoning: it only goes back to the same model with the same credential. */
export interface ReasoningOwner {
  family: Opaque['family']
  providerId: string
  credentialId: string | null
  model: string
}

/**
 * Keeps sealed reasoning of turns that called tools, by call id, for clients whose format cannot carry it. It is journaled before the
 * client learns the id, and read from this thread's memory, else from the store.
 */
export class ReasoningVault {
  readonly #gateway: Gateway
  /** Least recently used first. '': not found. */
  readonly #known = new Map<string, string>()
  #bytes = 0

  constructor(gateway: Gateway) {
    this.#gateway = gateway
  }

  /** Must be called before the event that names the call is sent. */
  keep({ key, trace, arrival }: Call, owner: ReasoningOwner, callId: string, turn: TurnReasoning): void {
    const name = nameOf(key.projectId, owner, callId)
    if (turn.before.length === 0 && turn.own === null) return this.#remember(name, thoughtNothing)
    const payload = JSON.stringify(turn)
    if (payload.length > longest) return
    const expiresAt = arrival.receivedAt + lifeMs
    const sealed = this.#gateway.model.configuration.tokens.seal('reasoning', payload, expiresAt)
    const entry = { kind: 'reasoning', requestId: trace.id, name, expiresAt, sealed } as const
    void this.#gateway.journal.append(entry)
    this.#remember(name, sealed)
  }

  /**
   * Reasoning by call id; null: the model did none. Ids that are unknown, or not found in time, are missing. `isNeeded`: the provider may
   * refuse the request without it.
   */
  async find(
    projectId: string,
    owner: ReasoningOwner,
    callIds: readonly string[],
    isNeeded: boolean,
  ): Promise<Map<string, TurnReasoning | null>> {
    const names = new Map(callIds.map((id) => [nameOf(projectId, owner, id), id]))
    const asked = [...names.keys()].filter((name) => !this.#known.has(name))
    if (asked.length > 0) {
      const reply = await this.#gateway.objects.reasoning(asked, isNeeded, isNeeded ? neededMs : usefulMs)
      for (const name of asked) {
        const sealed = reply?.found[name] ?? (reply?.certain === true ? '' : null)
        if (sealed !== null) this.#remember(name, sealed)
      }
    }
    const turns = new Map<string, TurnReasoning | null>()
    for (const [name, id] of names) {
      const sealed = this.#use(name)
      const turn = sealed === thoughtNothing ? null : this.#open(sealed)
      if (turn !== undefined) turns.set(id, turn)
    }
    return turns
  }

  #open(sealed: string): TurnReasoning | undefined {
    if (sealed === '') return undefined
    const opened = this.#gateway.model.configuration.tokens.open('reasoning', sealed, Date.now())
    return opened.state === 'open' ? (readTurn(opened.payload) ?? undefined) : undefined
  }

  #use(name: string): string {
    const sealed = this.#known.get(name) ?? ''
    if (this.#known.delete(name)) this.#known.set(name, sealed)
    return sealed
  }

  #remember(name: string, sealed: string): void {
    const before = this.#known.get(name)
    if (before !== undefined) this.#forget(name, before)
    this.#known.set(name, sealed)
    this.#bytes += sealed.length + entryCost
    for (const [oldest, text] of this.#known) {
      if (this.#bytes <= mostBytes) return
      this.#forget(oldest, text)
    }
  }

  #forget(name: string, sealed: string): void {
    this.#known.delete(name)
    this.#bytes -= sealed.length + entryCost
  }
}

const vaults = new WeakMap<Gateway, ReasoningVault>()

/** Each thread has one. */
export function vaultOf(gateway: Gateway): ReasoningVault {
  return vaults.getOrInsertComputed(gateway, () => new ReasoningVault(gateway))
}

/** Whether a provider may sign reasoning that it wants back. With chat, servers of Google's models and OpenRouter do, for calls. */
export function signsReasoning(to: FormatName, model: string): boolean {
  const { family } = modelFacts(model)
  return to !== 'chat' || family === 'gemini' || family === 'anthropic'
}

export function ownerOf(format: FormatName, owner: Omit<ReasoningOwner, 'family'>): ReasoningOwner {
  return { family: familyOf[format], ...owner }
}

function nameOf(
  projectId: string,
  { family, providerId, credentialId, model }: ReasoningOwner,
  callId: string,
): string {
  const parts = [projectId, family, providerId, credentialId, modelFamily(model), callId]
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url')
}

/** Versions of a model read each other's signatures. */
function modelFamily(model: string): string {
  return model.replace(/(?:-\d{8}|-\d{4}-\d{2}-\d{2}|-latest|@[\w-]+|-v\d+:\d+)$/, '')
}

function readTurn(payload: string): TurnReasoning | null {
  const turn = asObject(parseJson(Buffer.from(payload)))
  if (turn === null) return null
  const before = asArray(turn.before).flatMap((each) => {
    const part = asObject(each)
    const opaque = readOpaque(part?.opaque)
    return opaque === null ? [] : [{ text: asString(part?.text), opaque, first: part?.first === true }]
  })
  return { before, own: readOpaque(turn.own) }
}
