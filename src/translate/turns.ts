import type { CallPart, Conversation, ConversationTurn, MediaPart, Part, ResultPart, TextPart } from './conversation.ts'
import { mintId } from './ids.ts'
import type { Ledger } from './ledger.ts'
import { cacheMarkPath } from './setting-paths.ts'

/**
 * A conversation as formats with rules for turns want it: user and assistant in alternation, the results of an assistant's calls first in
 * what follows, in the order of the calls, each call with exactly one.
 */
export interface OrderedTurns {
  /** What the conversation begins with. */
  system: readonly TextPart[]
  turns: readonly OrderedTurn[]
}

export interface OrderedTurn {
  /** `system`: in its place among the turns; only where the target has that. */
  role: 'system' | 'user' | 'assistant'
  parts: readonly (Exclude<Part, CallPart | ResultPart> | NamedCall | NamedResult)[]
  path: string
}

export interface NamedCall extends CallPart {
  id: string
}

export interface NamedResult extends ResultPart {
  callId: string
  name: string
  custom?: true
}

export interface TurnOptions {
  /** Whether the target has system messages among the turns. Else they become a part of the user's turn, which is a loss. */
  systemInPlace: boolean
}

/** What is wrong with the turns goes to the ledger as a refusal. Depends on nothing but the turns before: later ones change no earlier one. */
export function orderTurns({ turns }: Conversation, options: TurnOptions, ledger: Ledger): OrderedTurns {
  const first = turns.findIndex(({ role }) => role !== 'system')
  const leading = first < 0 ? turns : turns.slice(0, first)
  const ordered: OrderedTurn[] = []
  let calls: readonly NamedCall[] = []
  let block: ConversationTurn[] = []
  const finish = () => {
    ordered.push(...orderBlock(block, calls, options, ledger))
    block = []
    calls = []
  }
  for (const turn of first < 0 ? [] : turns.slice(first)) {
    if (turn.role !== 'assistant') {
      block.push(turn)
      continue
    }
    const follows = block.length === 0 && ordered.at(-1)?.role === 'assistant'
    if (!follows) finish()
    const parts = nameCalls(withoutEmptyTexts(turn.parts, ledger), turn.path)
    const before = follows ? ordered.pop() : undefined
    const merged = [...(before?.parts ?? []), ...parts]
    calls = merged.filter((part): part is NamedCall => part.kind === 'call')
    if (merged.length > 0) ordered.push({ role: 'assistant', parts: merged, path: before?.path ?? turn.path })
  }
  finish()
  return { system: leading.flatMap((turn) => textsOf(turn, ledger)), turns: joinUsers(ordered) }
}

/** All that stands between two turns of the assistant. */
function orderBlock(
  block: readonly ConversationTurn[],
  calls: readonly NamedCall[],
  { systemInPlace }: TurnOptions,
  ledger: Ledger,
): OrderedTurn[] {
  const parts = block.flatMap((turn) => turn.parts)
  const results = matchResults(
    parts.filter((part) => part.kind === 'result'),
    calls,
    ledger,
  )
  const ordered: OrderedTurn[] = []
  const path = block[0]?.path ?? ''
  if (results.length > 0) ordered.push({ role: 'user', parts: results, path })
  for (const turn of block) {
    if (turn.role === 'system') {
      const texts = textsOf(turn, ledger)
      if (texts.length === 0) continue
      if (systemInPlace) ordered.push({ role: 'system', parts: texts, path: turn.path })
      else {
        ledger.lose(turn.path)
        ordered.push({ role: 'user', parts: texts.map(asUserText), path: turn.path })
      }
      continue
    }
    const rest = withoutEmptyTexts(turn.parts, ledger).filter(
      (part): part is Exclude<Part, CallPart | ResultPart> => part.kind !== 'result' && part.kind !== 'call',
    )
    if (rest.length > 0) ordered.push({ role: 'user', parts: rest, path: turn.path })
  }
  return ordered
}

function joinUsers(turns: readonly OrderedTurn[]): OrderedTurn[] {
  const joined: OrderedTurn[] = []
  for (const turn of turns) {
    const before = joined.at(-1)
    if (before?.role === 'user' && turn.role === 'user') {
      joined[joined.length - 1] = { ...before, parts: [...before.parts, ...turn.parts] }
    } else joined.push(turn)
  }
  return joined
}

/** Each call's one result, in the order of the calls. */
function matchResults(results: readonly ResultPart[], calls: readonly NamedCall[], ledger: Ledger): NamedResult[] {
  const found = new Map<NamedCall, ResultPart>()
  for (const result of results) {
    const call = calls.find(
      (candidate) =>
        (result.callId === null ? candidate.name === result.name : candidate.id === result.callId) &&
        (result.callId !== null || !found.has(candidate)),
    )
    const name = result.callId ?? result.name ?? ''
    if (call === undefined) {
      ledger.refuse(result.path, `the result at ${result.path} belongs to no call (${name}) of the turn before it`)
    } else if (found.has(call)) ledger.refuse(result.path, `the call ${name} has two results`)
    else found.set(call, result)
  }
  return calls.flatMap((call) => {
    const result = found.get(call)
    if (result !== undefined) return [{ ...result, callId: call.id, name: call.name }]
    ledger.refuse(call.path, `the call ${call.id} of ${call.name} at ${call.path} has no result in what follows it`)
    return []
  })
}

/** A call without an id gets one from its place, which is the same in every later turn. */
function nameCalls(parts: readonly Part[], path: string): OrderedTurn['parts'] {
  return parts.flatMap((part, index) => {
    if (part.kind === 'result') return []
    return [part.kind === 'call' ? { ...part, id: part.id ?? mintId('call_', path, index) } : part]
  })
}

/** Providers refuse texts without anything in them. */
function withoutEmptyTexts(parts: readonly Part[], ledger: Ledger): Part[] {
  return parts.filter((part) => {
    if (part.kind !== 'text' || part.text.trim() !== '') return true
    if (part.cacheMark !== undefined) ledger.lose(cacheMarkPath(ledger.from, part.path))
    return false
  })
}

function textsOf(turn: ConversationTurn, ledger: Ledger): TextPart[] {
  return withoutEmptyTexts(turn.parts, ledger).filter((part): part is TextPart => {
    if (part.kind === 'text') return true
    ledger.refuse(part.path, `a system message holds text only, and ${part.path} is none`)
    return false
  })
}

/** The wrapping never changes: anything that varies would spoil caches and signatures. */
function asUserText(part: TextPart): TextPart {
  return { ...part, text: `<system-message>\n${part.text}\n</system-message>` }
}

export function isMedia(part: { kind: string }): part is MediaPart {
  return part.kind === 'image' || part.kind === 'audio' || part.kind === 'video' || part.kind === 'file'
}
