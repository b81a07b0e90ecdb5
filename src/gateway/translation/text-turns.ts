import { createHash } from 'node:crypto'
import { type Span, scanElements, scanObject } from '../../core/json/json-scan.ts'
import { slicedBytes } from '../../core/json/known-spans.ts'
import type { Conversation, ConversationTurn, Part } from '../../translate/conversation.ts'
import type { DocumentPiece } from '../../translate/json.ts'
import { type PlainTurns, plainForms } from '../../translate/plain-turns.ts'
import type { TurnReasoning } from './vault.ts'

/**
 * At least this many of the last text-only assistant turns are looked up. The number changes in steps, so that the beginning of a prompt
 * rarely changes and stays in the provider's cache.
 */
const step = 50
type ClientFormat = 'chat' | 'responses'

/** A text turn, by its index in the client's list. */
interface TextTurn {
  index: number
  text(): string
}

/**
 * Names text turns by their text and everything before them, as the client wrote it: the same words in another conversation are another
 * turn. Bodies large enough to be scanned in slices get no names.
 */
export class TextTurns {
  readonly #bytes: Buffer
  readonly #list: string
  readonly #environmentId: string

  constructor(bytes: Buffer, format: ClientFormat, environmentId: string) {
    this.#bytes = bytes
    this.#list = plainForms[format].list
    this.#environmentId = environmentId
  }

  /** The name of the turn that answers the request; null: it gets none. */
  nameAnswer(text: string): string | null {
    const elements = this.#elements()
    return elements === null
      ? null
      : (this.#namesAt(elements, [{ index: elements.length, text: () => text }])[0]?.name ?? null)
  }

  /** Names of the request's own turns, by index. */
  nameTurns(conversation: Conversation): { index: number; name: string }[] {
    const texts = listTexts(conversation)
    const first = Math.max(0, (Math.floor(texts.length / step) - 1) * step)
    const elements = texts.length === 0 ? null : this.#elements()
    return elements === null ? [] : this.#namesAt(elements, texts.slice(first))
  }

  /** Null: there is no list, or it is too long to scan. */
  #elements(): Span[] | null {
    if (this.#bytes.length >= slicedBytes) return null
    const scan = scanObject(this.#bytes, [this.#list])
    const [list, second] = scan.ok ? scan.members : []
    return list === undefined || second !== undefined ? null : scanElements(this.#bytes, list)
  }

  /** `texts`: in the order of their indexes. */
  #namesAt(elements: readonly Span[], texts: readonly TextTurn[]) {
    const before = createHash('sha256').update(this.#environmentId)
    let from = elements[0]?.start ?? 0
    return texts.map(({ index, text }) => {
      const end = elements[index - 1]?.end ?? from
      before.update(this.#bytes.subarray(from, end))
      from = end
      const own = createHash('sha256').update(text().trim()).digest('base64url')
      return { index, name: `text ${before.copy().digest('base64url')} ${own}` }
    })
  }
}

/** Texts are read lazily: a long chat has thousands. */
function listTexts({ turns }: Conversation): TextTurn[] {
  return turns.flatMap((turn) => {
    const index = indexOf(turn)
    const { plain } = turn
    if (plain === undefined) return isText(turn) ? [{ index, text: () => textOf(turn.parts) }] : []
    return Array.from({ length: plain.count / 2 }, (_, pair) => {
      const at = 2 * pair + 1
      return { index: index + at, text: () => plain.textAt(at) }
    })
  })
}

/** The index in the turn's path: 3 for `messages[3]`. */
function indexOf({ path }: ConversationTurn): number {
  return Number(/\[(\d+)\]$/.exec(path)?.[1] ?? 0)
}

function isText({ role, parts }: ConversationTurn): boolean {
  return (
    role === 'assistant' &&
    parts.some(({ kind }) => kind === 'text') &&
    parts.every((part) => (part.kind === 'text' || part.kind === 'reasoning') && part.opaque === undefined)
  )
}

function textOf(parts: readonly Part[]): string {
  return parts.map((part) => (part.kind === 'text' ? part.text : '')).join('')
}

/** The conversation with the kept reasoning of its texts, and the pieces that its turns refer to. */
export function attachToTexts(
  conversation: Conversation,
  found: ReadonlyMap<number, TurnReasoning>,
  pieces: readonly DocumentPiece[],
): { conversation: Conversation; pieces: readonly DocumentPiece[] } {
  if (found.size === 0) return { conversation, pieces }
  const all = [...pieces]
  const turns = conversation.turns.flatMap((turn): ConversationTurn[] => {
    if (turn.plain !== undefined) return splitPlain(turn, turn.plain, found, all)
    const kept = isText(turn) ? found.get(indexOf(turn)) : undefined
    return [kept === undefined ? turn : attach(turn, kept)]
  })
  return { conversation: { ...conversation, turns }, pieces: all }
}

/** The client's own copy of the reasoning is unsigned; the signed original replaces it. */
function attach(turn: ConversationTurn, { before, own }: TurnReasoning): ConversationTurn {
  const { path } = turn
  const thoughts = before.map(({ text, opaque }): Part => ({ kind: 'reasoning', path, text, opaque }))
  const texts = turn.parts.filter(({ kind }) => kind === 'text')
  const signed = texts.map((part, index) =>
    own !== null && index === texts.length - 1 ? { ...part, opaque: own } : part,
  )
  return { ...turn, parts: [...thoughts, ...(signed as Part[])] }
}

/** Splits plain turns: a question and answer with kept reasoning become turns of their own; the rest stays plain. */
function splitPlain(
  turn: ConversationTurn,
  plain: PlainTurns,
  found: ReadonlyMap<number, TurnReasoning>,
  pieces: DocumentPiece[],
): ConversationTurn[] {
  const first = indexOf(turn)
  const list = turn.path.slice(0, turn.path.lastIndexOf('['))
  const turns: ConversationTurn[] = []
  const textTurn = (role: 'user' | 'assistant', at: number): ConversationTurn => {
    const path = `${list}[${first + at}]`
    return { role, path, parts: [{ kind: 'text', path, text: plain.textAt(at) }] }
  }
  const addPlain = (from: number, to: number) => {
    if (from === to) return
    const part = from === 0 && to === plain.count ? plain : plain.slice(from, to, pieces.length)
    if (part !== plain) pieces.push(part)
    turns.push({ role: 'assistant', parts: [], path: `${list}[${first + from}]`, plain: part })
  }
  let from = 0
  for (let at = 1; at < plain.count; at += 2) {
    const kept = found.get(first + at)
    if (kept === undefined) continue
    addPlain(from, at - 1)
    turns.push(textTurn('user', at - 1), attach(textTurn('assistant', at), kept))
    from = at + 1
  }
  addPlain(from, plain.count)
  return turns
}
