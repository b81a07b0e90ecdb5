import type { CallPart, Conversation, ConversationTurn, MediaPart, Part, ResultPart, TextPart } from './conversation.ts'
import { mintId } from './ids.ts'
import type { Ledger } from './ledger.ts'
import type { PlainTurns } from './plain-turns.ts'
import { cacheMarkPath } from './setting-paths.ts'

/**
 * A conversation for formats with rules about turns: user and assistant alternate; the results of an assistant's calls come first in the
 * next turn, in the order of the calls, one for each call.
 */
export interface OrderedTurns {
  /** System messages at the beginning. */
  system: readonly TextPart[]
  turns: readonly OrderedTurn[]
}

export interface OrderedTurn {
  /** `system`: among the turns, only if the target supports that. */
  role: 'system' | 'user' | 'assistant'
  parts: readonly (Exclude<Part, CallPart | ResultPart> | NamedCall | NamedResult)[]
  path: string
  /** Plain turns, in place of this one. */
  plain?: PlainTurns
}

export interface NamedCall extends CallPart {
  id: string
  /** The client gave the call no id. */
  isUnnamed?: true
  /** The id in the client's results, if an earlier call had the same id. */
  writtenId?: string
}

export interface NamedResult extends ResultPart {
  callId: string
  name: string
  custom?: true
}

export interface TurnOptions {
  /** Whether the target supports system messages among the turns. Otherwise they become a part of the user's turn, which is a loss. */
  systemInPlace: boolean
}

/**
 * Invalid turns go to the ledger as a refusal. The result for a turn depends only on those before it, so later turns never change earlier
 * ones.
 */
export function orderTurns({ turns }: Conversation, options: TurnOptions, ledger: Ledger): OrderedTurns {
  const first = turns.findIndex(({ role }) => role !== 'system')
  const leading = first < 0 ? turns : turns.slice(0, first)
  const ordered = new TurnList()
  const ids = new Set<string>()
  const orderUpTo = (from: number, to: number, calls: readonly NamedCall[]) =>
    orderBlock(turns, from, to, calls, ordered, options, ledger)
  let calls: NamedCall[] = noCalls
  let begin = first < 0 ? turns.length : first
  for (let at = begin; at < turns.length; at++) {
    const turn = turns[at]
    if (turn?.role !== 'assistant') continue
    if (at > begin || ordered.lastRole !== 'assistant' || turn.plain !== undefined) {
      orderUpTo(begin, at, calls)
      calls = noCalls
    }
    begin = at + 1
    if (turn.plain !== undefined) {
      ordered.addPlain(turn.plain, turn.path)
      continue
    }
    const parts = nameCalls(withoutEmptyTexts(turn.parts, ledger), turn.path, ids, ledger)
    ordered.add('assistant', parts, turn.path)
    if (!parts.some(isCall)) continue
    if (calls.length === 0) calls = []
    calls.push(...parts.filter(isCall))
  }
  orderUpTo(begin, turns.length, calls)
  const last = ordered.turns.at(-1)
  // Models other than Claude start a new answer.
  if (ledger.from === 'messages' && last?.role === 'assistant') ledger.lose(last.path)
  return { system: leading.flatMap((turn) => textsOf(turn, ledger)), turns: ordered.turns }
}

/** OpenAI answers a lone system message. Other vendors need a question: there it becomes the user's, which is a loss. */
export function withQuestion(ordered: OrderedTurns, ledger: Ledger): OrderedTurns {
  const { system, turns } = ordered
  const [first] = system
  if (turns.length > 0 || first === undefined) return ordered
  for (const { path } of system) ledger.lose(path)
  return { system: [], turns: [{ role: 'user', parts: system, path: first.path }] }
}

/** Never modified; shared because thousands of turns have no calls. */
const noCalls: NamedCall[] = []
const noResults: readonly NamedResult[] = []

/** Merges consecutive parts of one role into a turn. */
class TurnList {
  readonly #turns: OrderedTurn[] = []
  /** The parts of the last turn if they are merged from several; null: they are that turn's own list, which must not change. */
  #merged: OrderedTurn['parts'][number][] | null = null

  get turns(): readonly OrderedTurn[] {
    return this.#turns
  }

  get lastRole(): OrderedTurn['role'] | null {
    return this.#turns.at(-1)?.role ?? null
  }

  add(role: OrderedTurn['role'], parts: OrderedTurn['parts'], path: string): void {
    if (parts.length === 0) return
    const last = this.#turns.at(-1)
    if (last?.role !== role) {
      this.#turns.push({ role, parts, path })
      this.#merged = null
      return
    }
    if (this.#merged === null) {
      this.#merged = [...last.parts]
      this.#turns[this.#turns.length - 1] = { ...last, parts: this.#merged }
    }
    for (const part of parts) this.#merged.push(part)
  }

  /**
   * Plain turns never merge with their neighbours: they begin with a question after an answer, and end with an answer before a question.
   */
  addPlain(plain: PlainTurns, path: string): void {
    this.#turns.push({ role: 'assistant', parts: [], path, plain })
    this.#merged = null
  }
}

function isResult(part: { kind: string }): part is ResultPart {
  return part.kind === 'result'
}

function isCall(part: OrderedTurn['parts'][number]): part is NamedCall {
  return part.kind === 'call'
}

/** Orders everything between two turns of the assistant, from `begin` to before `end`: the results of its calls first. */
function orderBlock(
  turns: readonly ConversationTurn[],
  begin: number,
  end: number,
  calls: readonly NamedCall[],
  ordered: TurnList,
  { systemInPlace }: TurnOptions,
  ledger: Ledger,
): void {
  const results: ResultPart[] = []
  for (let at = begin; at < end; at++) for (const part of turns[at]?.parts ?? []) if (isResult(part)) results.push(part)
  const matched = results.length + calls.length === 0 ? noResults : matchResults(results, calls, ledger)
  ordered.add('user', matched, turns[begin]?.path ?? '')
  for (let at = begin; at < end; at++) {
    const turn = turns[at]
    if (turn?.role === 'system') {
      const texts = textsOf(turn, ledger)
      if (texts.length > 0 && !systemInPlace) ledger.lose(turn.path)
      ordered.add(systemInPlace ? 'system' : 'user', systemInPlace ? texts : texts.map(asUserText), turn.path)
    } else if (turn !== undefined) ordered.add('user', withoutCalls(turn.parts, ledger), turn.path)
  }
}

/** The parts of a user's turn without results, which are placed elsewhere. */
function withoutCalls(parts: readonly Part[], ledger: Ledger): OrderedTurn['parts'] {
  const kept = withoutEmptyTexts(parts, ledger)
  if (!kept.some(isCallOrResult)) return kept as OrderedTurn['parts']
  for (const { kind, path } of kept)
    if (kind === 'call') ledger.refuse(path, `the call at ${path} is not in an assistant's message`)
  return kept.filter((part) => !isCallOrResult(part)) as OrderedTurn['parts']
}

/** The result of each call, in the order of the calls. */
function matchResults(results: readonly ResultPart[], calls: readonly NamedCall[], ledger: Ledger): NamedResult[] {
  /** Some servers give several calls one id: their results come in order. */
  const byId = groupCalls(calls, ({ id, writtenId }) => writtenId ?? id)
  /** For calls or results without ids. */
  const byName = groupCalls(calls, ({ name }) => name)
  const found = new Map<NamedCall, ResultPart>()
  for (const result of results) {
    const ofId = result.callId === null ? undefined : byId.get(result.callId)
    const call =
      ofId === undefined
        ? nextFree(byName.get(result.name ?? ''), found, result.callId !== null)
        : nextFree(ofId, found, false)
    const name = result.callId ?? result.name ?? ''
    if (call !== undefined) found.set(call, result)
    else if (ofId !== undefined) ledger.refuse(result.path, `the call ${name} has two results`)
    else ledger.refuse(result.path, `the result at ${result.path} belongs to no call (${name}) of the turn before it`)
  }
  return calls.flatMap((call) => {
    const result = found.get(call)
    if (result !== undefined) return [{ ...result, callId: call.id, name: call.name }]
    ledger.refuse(call.path, `the call ${call.id} of ${call.name} at ${call.path} has no result in what follows it`)
    return []
  })
}

/** In each group the first call is last. */
function groupCalls(calls: readonly NamedCall[], keyOf: (call: NamedCall) => string): Map<string, NamedCall[]> {
  const groups = new Map<string, NamedCall[]>()
  for (const call of calls) {
    const group = groups.get(keyOf(call))
    if (group === undefined) groups.set(keyOf(call), [call])
    else group.push(call)
  }
  for (const group of groups.values()) group.reverse()
  return groups
}

/** `calls`: the first one last. `isUnnamed`: only calls without ids, to whose results Gemini CLI gives ids of its own. */
function nextFree(
  calls: NamedCall[] | undefined,
  found: ReadonlyMap<NamedCall, unknown>,
  isUnnamed: boolean,
): NamedCall | undefined {
  let call = calls?.pop()
  while (call !== undefined && (found.has(call) || (isUnnamed && call.isUnnamed === undefined))) call = calls?.pop()
  return call
}

/**
 * Gives ids to calls without one, from their position, so that they are the same in every later turn. A repeated id is replaced too: some
 * servers restart their numbering in each answer, and Anthropic rejects duplicate ids.
 */
function nameCalls(parts: readonly Part[], path: string, ids: Set<string>, ledger: Ledger): OrderedTurn['parts'] {
  if (!parts.some(isCallOrResult)) return parts as OrderedTurn['parts']
  return parts.flatMap((part, index): OrderedTurn['parts'] => {
    if (part.kind === 'result') {
      ledger.refuse(part.path, `the result at ${part.path} is in an assistant's message`)
      return []
    }
    if (part.kind !== 'call') return [part]
    const { id } = part
    if (id === null) return [{ ...part, id: mintId('call_', path, index), isUnnamed: true }]
    if (ids.has(id)) return [{ ...part, id: mintId('call_', path, index), writtenId: id }]
    ids.add(id)
    return [{ ...part, id }]
  })
}

function isCallOrResult({ kind }: Part): boolean {
  return kind === 'call' || kind === 'result'
}

/** Usually only looks at the first letter. */
function isEmptyText(part: Part): boolean {
  return part.kind === 'text' && !/\S/.test(part.text)
}

/** Providers reject empty texts. */
/** And without images that the model made, where no turn holds them. */
function withoutEmptyTexts(parts: readonly Part[], ledger: Ledger): readonly Part[] {
  // The table has said that it is lost.
  const isNowhere = (part: Part) => part.kind === 'image' && part.made === true && ledger.to !== 'generate'
  if (!parts.some((part) => isEmptyText(part) || isNowhere(part))) return parts
  return parts.filter((part) => {
    if (isNowhere(part)) return false
    if (!isEmptyText(part)) return true
    if (part.cacheMark !== undefined) ledger.lose(cacheMarkPath(ledger.from, part.path))
    return false
  })
}

function textsOf(turn: ConversationTurn, ledger: Ledger): TextPart[] {
  return withoutEmptyTexts(turn.parts, ledger).filter((part): part is TextPart => {
    if (part.kind === 'text') return true
    ledger.refuse(part.path, `a system message holds text only, and ${part.path} is not text`)
    return false
  })
}

/** The wrapping never changes: variation would spoil caches and signatures. */
export function asUserText(part: TextPart): TextPart {
  return { ...part, text: `<system-message>\n${part.text}\n</system-message>` }
}

/** For targets where the user must begin. The text never changes, since variation would spoil caches and signatures. */
export const beginningText = '(The conversation begins with the assistant.)'

/**
 * Whether the answer under way calls tools and begins without thinking that the model signed. Claude takes all of the assistant's turns since
 * the user's last question for one answer: where one begins with thinking, later ones need none.
 */
export function beginsUnsigned(
  turns: readonly OrderedTurn[],
  isSigned: (first: OrderedTurn['parts']) => boolean,
): boolean {
  const isQuestion = ({ role, parts }: OrderedTurn) => role === 'user' && !parts.some(isResult)
  const answers = turns.slice(turns.findLastIndex(isQuestion) + 1).filter(({ role }) => role === 'assistant')
  return answers.some(({ parts }) => parts.some(isCall)) && !isSigned(answers[0]?.parts ?? [])
}

export function isMedia(part: { kind: string }): part is MediaPart {
  return part.kind === 'image' || part.kind === 'audio' || part.kind === 'video' || part.kind === 'file'
}
