import {
  type ArrayNode,
  type JsonNode,
  memberOf,
  type ObjectNode,
  readNodes,
  readTextNode,
} from '../../core/json/json-nodes.ts'
import type { Edit, Span } from '../../core/json/json-scan.ts'
import type { LaneName } from '../../core/lane.ts'
import { isSealed, isSealedEncoded, ownReasoningPrefix } from '../../core/secrets/sealed-mark.ts'
import { withoutSignature } from '../../translate/google-signature.ts'
import { modelFacts } from '../../translate/model-facts.ts'

/**
 * Reasoning of answers that this gateway translated, which a client now sends to a provider of its own format. That provider would refuse
 * what another one has signed, and what nobody has. Only members that hold reasoning are looked at; texts and arguments may hold anything.
 */
export class ReplayedCarriers {
  readonly #found: CarrierFinder
  /** With reasoning that nobody has signed. */
  readonly #unsigned: CarrierFinder
  /** With all thinking, where Claude is not asked to think; null: it may be. */
  readonly #thinking: CarrierFinder | null

  private constructor(found: CarrierFinder, unsigned = found, thinking: CarrierFinder | null = null) {
    this.#found = found
    this.#unsigned = unsigned
    this.#thinking = thinking
  }

  /** Null: there are none. */
  static find(lane: LaneName, body: Buffer): ReplayedCarriers | null {
    const root = readNodes(body)
    if (root === null) return null
    const [found, unsigned] = [new CarrierFinder(body, 'sealed'), new CarrierFinder(body, 'unsigned')]
    for (const finder of [found, unsigned]) finders[lane](finder, root)
    if (unsigned.removed.length + unsigned.signatures.length === 0) return null
    const thinking = unsigned.losesBeginning ? findThinking(body, root) : null
    return new ReplayedCarriers(found, unsigned, thinking)
  }

  /** Claude has refused to think in an answer that another model began. Null: it was not asked to. */
  static findThinking(body: Buffer): ReplayedCarriers | null {
    const thinking = findThinking(body, readNodes(body))
    return thinking === null ? null : new ReplayedCarriers(thinking, thinking, thinking)
  }

  /** Of a chat, with what it shows of reasoning, for vendors that refuse it. */
  static findShown(body: Buffer): ReplayedCarriers | null {
    const root = readNodes(body)
    if (root === null) return null
    const finder = new CarrierFinder(body, 'shown')
    findInChat(finder, root)
    return finder.removed.length === 0 ? null : new ReplayedCarriers(finder)
  }

  /** Newer Gemini models want a word in place of a call's signature. Others than Claude show what nobody has signed, and want it back. */
  editsFor(model: string): Edit[] {
    const { family, reasoning } = modelFacts(model)
    if (this.#thinking !== null && this.stopsThinking(model)) return this.#thinking.removed.map(toEdit)
    const { removed, signatures } = family === 'anthropic' ? this.#unsigned : this.#found
    const isNewest = signatures.length > 0 && reasoning.control === 'level'
    return [
      ...removed.map(toEdit),
      ...signatures.map(({ value, member }) =>
        isNewest ? { span: value, text: `"${withoutSignature}"` } : toEdit(member),
      ),
    ]
  }

  /** With a budget, Claude refuses an answer with calls that does not begin with its own thinking: it goes on without any. */
  stopsThinking(model: string): boolean {
    const { family, reasoning } = modelFacts(model)
    return this.#thinking !== null && family === 'anthropic' && reasoning.control === 'budget'
  }
}

function toEdit(span: Span): Edit {
  return { span, text: '' }
}

class CarrierFinder {
  readonly removed: Span[] = []
  /** The answer under way calls tools, and loses the thinking with which it began. */
  losesBeginning = false
  readonly signatures: { value: Span; member: Span }[] = []
  /** What is found beside what is sealed: what nobody has signed, all thinking, or what a chat shows. */
  readonly finds: 'sealed' | 'unsigned' | 'thinking' | 'shown'
  readonly #bytes: Buffer

  constructor(bytes: Buffer, finds: CarrierFinder['finds']) {
    this.#bytes = bytes
    this.finds = finds
  }

  text(node: JsonNode | null, name: string): string {
    const value = memberOf(node, name)
    return value?.kind === 'text' ? (readTextNode(this.#bytes, value) ?? '') : ''
  }

  /** Removes the items; false: that would be all of them, so none is removed. */
  items(list: JsonNode | null, isCarrier: (item: JsonNode) => boolean): boolean {
    if (list?.kind !== 'array') return true
    const removed = list.items.map(isCarrier)
    if (!removed.includes(true)) return true
    if (!removed.includes(false)) return false
    this.removed.push(...spansOf(list.items, removed))
    return true
  }

  /** Removes all items of a list. */
  clear({ items }: ArrayNode): void {
    const [first, last] = [items[0], items.at(-1)]
    if (first !== undefined && last !== undefined) this.removed.push({ start: first.start, end: last.end })
  }

  member(node: JsonNode | null, isCarrier: (name: string, value: JsonNode) => boolean): void {
    if (node?.kind === 'object') this.removed.push(...memberSpans(node, isCarrier))
  }
}

const finders: Readonly<Record<LaneName, (finder: CarrierFinder, root: JsonNode) => void>> = {
  anthropic: findInMessages,
  gemini: findInContents,
  openai: (finder, root) => {
    findInInput(finder, root)
    findInChat(finder, root)
  },
}

/** Thinking with a sealed signature or none, and redacted thinking that is sealed. A message of nothing else goes as a whole. */
function findInMessages(finder: CarrierFinder, root: JsonNode): void {
  const { finds } = finder
  const isCarrier = (block: JsonNode) => {
    const type = finder.text(block, 'type')
    if (finds === 'thinking') return type === 'thinking' || type === 'redacted_thinking'
    if (type === 'thinking') {
      const signature = finder.text(block, 'signature')
      return isSealed(signature) || (finds === 'unsigned' && signature === '')
    }
    return type === 'redacted_thinking' && isSealed(finder.text(block, 'data'))
  }
  const messages = memberOf(root, 'messages')
  removeOrClear(finder, messages, (message) => !finder.items(memberOf(message, 'content'), isCarrier))
  finder.losesBeginning = losesBeginning(finder, itemsOf(messages), isCarrier)
}

/**
 * Whether an answer with calls is under way that loses thinking, and begins without any then. Claude takes all of the assistant's messages
 * since the user's last question for one answer.
 */
function losesBeginning(
  finder: CarrierFinder,
  messages: readonly JsonNode[],
  isCarrier: (block: JsonNode) => boolean,
): boolean {
  const blocksOf = (message: JsonNode) => itemsOf(memberOf(message, 'content'))
  const typeOf = (block: JsonNode) => finder.text(block, 'type')
  const isAsked = (message: JsonNode) =>
    finder.text(message, 'role') !== 'assistant' && !blocksOf(message).some((block) => typeOf(block) === 'tool_result')
  const blocks = messages
    .slice(messages.findLastIndex(isAsked) + 1)
    .filter((message) => finder.text(message, 'role') === 'assistant')
    .flatMap(blocksOf)
  const first = blocks.find((block) => !isCarrier(block))
  return (
    blocks.some(isCarrier) &&
    blocks.some((block) => typeOf(block) === 'tool_use') &&
    first !== undefined &&
    !typeOf(first).endsWith('thinking')
  )
}

/**
 * A budget for thinking, how its blocks are to be cleared, which Anthropic takes beside it only, and all thinking: Anthropic refuses it in
 * an answer under way of a model that is not asked to think. Null: the model is not asked to.
 */
function findThinking(body: Buffer, root: JsonNode | null): CarrierFinder | null {
  const finder = new CarrierFinder(body, 'thinking')
  if (root?.kind !== 'object' || finder.text(memberOf(root, 'thinking'), 'type') !== 'enabled') return null
  findInMessages(finder, root)
  const edits = itemsOf(memberOf(memberOf(root, 'context_management'), 'edits'))
  const clear = edits.map((edit) => finder.text(edit, 'type').startsWith('clear_thinking'))
  const managesOnly = clear.length > 0 && !clear.includes(false)
  if (clear.includes(true) && !managesOnly) finder.removed.push(...spansOf(edits, clear))
  finder.removed.push(
    ...memberSpans(root, (name) => name === 'thinking' || (managesOnly && name === 'context_management')),
  )
  return finder
}

function findInInput(finder: CarrierFinder, root: JsonNode): void {
  const isCarrier = (item: JsonNode) => {
    if (finder.text(item, 'type') !== 'reasoning') return false
    const sealed = finder.text(item, 'encrypted_content')
    // What is in none of it is looked up by its id, which OpenAI does not know.
    return isSealed(sealed) || (sealed === '' && finder.text(item, 'id').startsWith(ownReasoningPrefix))
  }
  removeOrClear(finder, memberOf(root, 'input'), isCarrier)
}

function removeOrClear(finder: CarrierFinder, list: JsonNode | null, isCarrier: (item: JsonNode) => boolean): void {
  if (list?.kind === 'array' && !finder.items(list, isCarrier)) finder.clear(list)
}

const shownIn = new Set(['reasoning_content', 'reasoning_details', 'reasoning'])

/** Finds `extra_content`, of a message and of its calls. */
function findInChat(finder: CarrierFinder, root: JsonNode): void {
  const isCarrier = (name: string, value: JsonNode) => {
    if (finder.finds === 'shown' && shownIn.has(name)) return true
    if (name !== 'extra_content') return false
    const sealed = memberOf(memberOf(value, 'spgw'), 'reasoning')
    return sealed !== null || isSealed(finder.text(memberOf(value, 'google'), 'thought_signature'))
  }
  for (const message of itemsOf(memberOf(root, 'messages'))) {
    finder.member(message, isCarrier)
    for (const call of itemsOf(memberOf(message, 'tool_calls'))) finder.member(call, isCarrier)
  }
}

/** Google reads names in both spellings. */
function findInContents(finder: CarrierFinder, root: JsonNode): void {
  const either = (node: JsonNode | null, name: string, snake: string) => memberOf(node, name) ?? memberOf(node, snake)
  const inside = either(root, 'generateContentRequest', 'generate_content_request') ?? root
  for (const content of itemsOf(memberOf(inside, 'contents')))
    for (const part of itemsOf(memberOf(content, 'parts'))) {
      if (part.kind !== 'object') continue
      for (const signature of ['thoughtSignature', 'thought_signature']) {
        const value = memberOf(part, signature)
        if (value === null || !isSealedEncoded(finder.text(part, signature))) continue
        const [member] = memberSpans(part, (name) => name === signature)
        if (member === undefined) continue
        if (either(part, 'functionCall', 'function_call') === null) finder.removed.push(member)
        else finder.signatures.push({ value, member })
      }
    }
}

function itemsOf(node: JsonNode | null): readonly JsonNode[] {
  return node?.kind === 'array' ? node.items : []
}

function memberSpans({ members }: ObjectNode, isCarrier: (name: string, value: JsonNode) => boolean): Span[] {
  const spans = members.map(({ key, value }) => ({ start: key.start, end: value.end }))
  return spansOf(
    spans,
    members.map(({ name, value }) => isCarrier(name, value)),
  )
}

/** The spans to remove, each with its comma. They do not overlap. */
function spansOf(items: readonly Span[], removed: readonly boolean[]): Span[] {
  const kept = removed.indexOf(false)
  const [first, firstKept] = [items[0], items[kept]]
  if (first === undefined) return []
  if (firstKept === undefined) return [{ start: first.start, end: items.at(-1)?.end ?? first.end }]
  const before = kept > 0 ? [{ start: first.start, end: firstKept.start }] : []
  const after = items.flatMap((item, index) => {
    const previous = items[index - 1]
    return index > kept && removed[index] === true && previous !== undefined
      ? [{ start: previous.end, end: item.end }]
      : []
  })
  return [...before, ...after]
}
