import { type JsonNode, memberOf, type ObjectNode, readTextNode, type TextNode } from '../../core/json/json-nodes.ts'
import { fixedNames } from './content-texts.ts'
import { buildChunk, buildDelta, buildPart, type FlushText, refill, type Step } from './flush-events.ts'

/** A piece of a text that is spread over several events. */
export interface StreamedPiece {
  node: TextNode
  text: string
  /** Which text of the answer the piece belongs to. */
  textId: string
  place: EventPlace
  path: string
  /** Fragments of JSON, for example the arguments of a tool call. */
  isJson: boolean
  /** The text is the input of a tool call. */
  isTool: boolean
  /** The text ends with this piece. */
  isLast: boolean
  /** Builds an event like this one for the rest of the text, when the text ends. */
  flush: FlushText
}

/** Which item, block or part an event is about, as far as it says so. */
export type EventPlace = Readonly<Record<string, string>>

export interface AnswerEvent {
  pieces: StreamedPiece[]
  /** Which texts end with this event. */
  ends: ((text: { textId: string; place: EventPlace }) => boolean) | null
  /** The event contains sound. */
  unseen: boolean
}

const soundDelta = /audio\.delta$/
const deltaForm = /[._]delta$/
const endForm =
  /(?:\.done|[._]stop|\.complete|\.completed|\.incomplete|\.failed|\.cancelled|\.expired|^message_delta|^error)$/
const placeNames = ['item_id', 'id', 'output_index', 'content_index', 'summary_index', 'index']
/** Members of a delta whose text is complete, and not a piece of a longer one. */
const otherNames = new Set(
  'name annotations citation data url image_url images b64_json stop_sequence logprobs'.split(' '),
)

/** Which text an event of a stream extends, and which texts it ends, in every format of the lanes. */
export function readAnswerEvent(data: Buffer, root: JsonNode, name: string): AnswerEvent {
  if (root.kind !== 'object') return { pieces: [], ends: null, unseen: false }
  const choices = memberOf(root, 'choices')
  if (choices?.kind === 'array') return readChoices(data, choices.items)
  const candidates = memberOf(root, 'candidates')
  if (candidates?.kind === 'array') return readCandidates(data, candidates.items)
  return readTyped(data, root, name)
}

function readChoices(data: Buffer, choices: readonly JsonNode[]): AnswerEvent {
  const pieces: StreamedPiece[] = []
  const ended = new Set<string>()
  for (const [at, choice] of choices.entries()) {
    if (choice.kind !== 'object') continue
    const index = rawMember(data, choice, 'index') ?? String(at)
    if (memberOf(choice, 'finish_reason')?.kind === 'text') ended.add(index)
    const add = (node: TextNode, steps: readonly Step[]) => {
      const path = writePath(steps)
      const place = { choice: index }
      const flush = buildChunk(data, index, steps)
      pieces.push(
        makePiece(data, node, { textId: `${index} ${path}`, place, path: `choices[${index}].${path}`, flush }),
      )
    }
    const text = memberOf(choice, 'text')
    if (text?.kind === 'text') add(text, ['text'])
    const delta = memberOf(choice, 'delta')
    if (delta !== null) collect(data, delta, ['delta'], add)
  }
  return { pieces, ends: ended.size === 0 ? null : ({ place }) => ended.has(place.choice ?? ''), unseen: false }
}

function readCandidates(data: Buffer, candidates: readonly JsonNode[]): AnswerEvent {
  const pieces: StreamedPiece[] = []
  const ended = new Set<string>()
  for (const candidate of candidates) {
    const index = rawMember(data, candidate, 'index') ?? '0'
    if (memberOf(candidate, 'finishReason')?.kind === 'text') ended.add(index)
    const parts = memberOf(memberOf(candidate, 'content'), 'parts')
    for (const part of parts?.kind === 'array' ? parts.items : []) {
      const text = memberOf(part, 'text')
      const kind = rawMember(data, part, 'thought') === 'true' ? 'thought' : 'text'
      const place = { candidate: index }
      const path = `candidates[${index}].${kind}`
      if (text?.kind === 'text') {
        const flush = buildPart(data, index, kind === 'thought' ? { thought: true } : {}, 'text')
        pieces.push(makePiece(data, text, { textId: `${index} ${kind}`, place, path, flush }))
      }
      pieces.push(...readPartialArguments(data, part, index))
    }
  }
  return { pieces, ends: ended.size === 0 ? null : ({ place }) => ended.has(place.candidate ?? ''), unseen: false }
}

/** Arguments of a function that arrive piece by piece, identified by their path. */
function readPartialArguments(data: Buffer, part: JsonNode, index: string): StreamedPiece[] {
  const list = memberOf(memberOf(part, 'functionCall'), 'partialArgs')
  return (list?.kind === 'array' ? list.items : []).flatMap((partial) => {
    const text = memberOf(partial, 'stringValue')
    const jsonPath = textOf(data, partial, 'jsonPath') ?? ''
    if (text?.kind !== 'text') return []
    const flush = buildPart(data, index, { jsonPath }, 'stringValue')
    const path = `candidates[${index}].functionCall${jsonPath}`
    const piece = makePiece(data, text, { textId: `${index} ${jsonPath}`, place: { candidate: index }, path, flush })
    return [{ ...piece, isTool: true, isLast: rawMember(data, partial, 'willContinue') !== 'true' }]
  })
}

function readTyped(data: Buffer, root: ObjectNode, name: string): AnswerEvent {
  const type = textOf(data, root, 'type') ?? textOf(data, root, 'event_type') ?? textOf(data, root, 'object') ?? name
  if (soundDelta.test(type)) return { pieces: [], ends: null, unseen: true }
  const place = readPlace(data, root)
  const pieces: StreamedPiece[] = []
  const add = (node: TextNode, steps: readonly Step[], flush: FlushText, ofType = type) => {
    const path = writePath(steps)
    const textId = `${ofType} ${JSON.stringify(place)} ${path}`
    const piece = makePiece(data, node, { textId, place, path: `${ofType} ${path}`, flush })
    const isJson = piece.isJson || type.includes('arguments')
    pieces.push({ ...piece, isJson, isTool: piece.isTool || isJson || type.includes('tool_call') })
  }
  if (type === 'content_block_start') {
    for (const { name: member, value } of membersOf(memberOf(root, 'content_block')))
      if (value.kind === 'text' && (member === 'text' || member === 'thinking'))
        add(value, ['delta', member], buildDelta(place.index ?? '0', member), 'content_block_delta')
    return { pieces, ends: null, unseen: false }
  }
  const isCompletion = type === 'completion'
  if (isCompletion || (deltaForm.test(type) && type !== 'message_delta')) {
    const delta = memberOf(root, isCompletion ? 'completion' : 'delta')
    if (delta !== null) collect(data, delta, ['delta'], (node, steps) => add(node, steps, refill(data, node)))
    const isOver = isCompletion && memberOf(root, 'stop_reason')?.kind === 'text'
    return { pieces, ends: isOver ? () => true : null, unseen: false }
  }
  return { pieces, ends: endForm.test(type) ? (text) => isWithin(text.place, place) : null, unseen: false }
}

/** Whether what ends is the text's own item, block or part, or one that contains it. */
function isWithin(text: EventPlace, ended: EventPlace): boolean {
  return Object.entries(ended).every(([name, value]) => text[name] === undefined || text[name] === value)
}

function readPlace(data: Buffer, root: ObjectNode): EventPlace {
  const place: Record<string, string> = {}
  for (const name of placeNames) {
    const value = rawMember(data, root, name)
    if (value !== null) place[name === 'item_id' ? 'id' : name] = value
  }
  return place
}

/** Collects every text below a delta, with its path. */
function collect(
  data: Buffer,
  node: JsonNode,
  steps: readonly Step[],
  add: (node: TextNode, steps: readonly Step[]) => void,
): void {
  if (node.kind === 'text') add(node, steps)
  for (const { name, value } of membersOf(node))
    if (!fixedNames.has(name) && !otherNames.has(name)) collect(data, value, [...steps, name], add)
  if (node.kind !== 'array') return
  for (const [at, item] of node.items.entries())
    collect(data, item, [...steps, { index: rawMember(data, item, 'index') ?? String(at) }], add)
}

function membersOf(node: JsonNode | null) {
  return node?.kind === 'object' ? node.members : []
}

function writePath(steps: readonly Step[]): string {
  return steps
    .map((step) => (typeof step === 'string' ? `.${step}` : `[${step.index}]`))
    .join('')
    .slice(1)
}

function makePiece(
  data: Buffer,
  node: TextNode,
  of: Pick<StreamedPiece, 'textId' | 'place' | 'path' | 'flush'>,
): StreamedPiece {
  const isJson = /(?:arguments|partial_json)$/.test(of.path)
  const isTool = isJson || /tool_calls|function_call/.test(of.path)
  return { ...of, node, text: readTextNode(data, node) ?? '', isJson, isTool, isLast: false }
}

/** A number or a word as it is written; for a string its value. */
function rawMember(data: Buffer, node: JsonNode, name: string): string | null {
  const member = memberOf(node, name)
  if (member?.kind === 'text') return readTextNode(data, member)
  return member?.kind === 'scalar' ? data.toString('latin1', member.start, member.end) : null
}

/** The text of a member; null if there is none. */
function textOf(data: Buffer, node: JsonNode, name: string): string | null {
  const member = memberOf(node, name)
  return member?.kind === 'text' ? readTextNode(data, member) : null
}
