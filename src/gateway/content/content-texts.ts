import {
  type JsonNode,
  memberOf,
  type ObjectNode,
  readTextNode,
  type ScalarNode,
  type TextNode,
} from '../../core/json/json-nodes.ts'
import type { ContentSide } from '../../core/policies/content-rules.ts'
import { shortestNumber } from '../../policy/content/arguments-scan.ts'

/** A text somewhere in a JSON document. */
export interface ContentText {
  node: TextNode | ScalarNode
  /** Its path as people write it: `messages[0].content`. */
  path: string
  text: string
  /** The text is itself JSON, such as the arguments of a tool call. */
  isJson: boolean
  /** It is checked but never changed: a change would name another object, or break a signature. */
  isFixed: boolean
}

/** The texts that `findTexts` found, in order, and whether there is content that is not text. */
export interface FoundTexts {
  texts: ContentText[]
  unseen: boolean
  /** In an answer: tokens with their probabilities, which repeat its text. */
  logprobs: JsonNode[]
}

/** Members whose values are names, or control the call. */
export const fixedNames = words(
  `type role id object status call_id tool_call_id tool_use_id item_id previous_response_id prompt_cache_key user user_id
  safety_identifier service_tier encrypted_content signature thoughtSignature thought_signature media_type mime_type
  mimeType file_id fileUri file_uri finish_reason finishReason stop_reason system_fingerprint responseId modelVersion
  model obfuscation event_id response_id stream_id conversation_id container`,
)
/** Members whose values may be files in base64. */
export const fileNames = words(
  'data file_data fileData b64_json partial_image_b64 url image_url bytes bytesBase64Encoded audio image',
)
/** Content that only the provider reads. */
export const unseenNames = words(
  `image_url input_audio file_data fileData inlineData inline_data file_url image_file b64_json bytesBase64Encoded gcsUri video_url
  audio_url document_url`,
)
/** In a prompt, content that only the provider reads; an answer only cites it. */
export const fileIdNames = words('file_id file_ids fileName file_name input_file_id training_file validation_file')
/** The file of a Gemini batch. Elsewhere clients and tools use these names for files of any kind. */
const batchFileNames = words('fileName file_name')
export const unseenTypes = words('image input_image input_file file input_audio image_generation_call')
/** Arguments of tools, and schemas of tools and answers: a file-like name in there does not mean a file. */
const dataNames = words(
  `args arguments parameters parametersJsonSchema parameters_json_schema input_schema inputSchema json_schema schema
  responseSchema response_schema responseJsonSchema response_json_schema`,
)
const argumentsName = /^arg(?:ument)?s$/
/** JSON that the client or the model makes: its names and numbers may be content too. */
const freeNames = new Set([...dataNames, 'input', 'response', 'output', 'metadata', 'structuredContent'])
/** Members that hold JSON as text. */
const jsonNames = words('arguments partial_json')
const smallestFile = 256
const answerRole = /^(?:assistant|model)$/
/** The client's own notes, which are never a file. */
const freeText = 'metadata.'
/** A name that clients or models invented may itself have to be hidden. */
const plainName = /^[A-Za-z_]{1,16}$/
/** An argument of a tool that is given by its path (Gemini's `partialArgs`). */
const numberArgument = 'numberValue'

export const logprobNames = words('logprobs logprobsResult top_logprobs')
export const tokenNames = words('input prompt')

/** All texts of a prompt or an answer: every string except those known not to be text, and numbers that may be content. */
export function findTexts(bytes: Buffer, root: JsonNode, side: ContentSide): FoundTexts {
  const finder = new TextFinder(bytes, root, side, shortestNumber)
  while (finder.lookOn());
  return finder.found
}

interface Surroundings {
  isFixed: boolean
  /** Inside a message that is attributed to the model. */
  isAnswer: boolean
  isFree: boolean
  /** Inside arguments or a schema. */
  isData: boolean
  isArgument: boolean
}

const nowhere: Surroundings = { isFixed: false, isAnswer: false, isFree: false, isData: false, isArgument: false }
/** Values between two yields: a small body may hold very many values. */
const valuesAtOnce = 500

/** `findTexts()` in steps. */
export class TextFinder {
  readonly found: FoundTexts = { texts: [], unseen: false, logprobs: [] }
  readonly #bytes: Buffer
  readonly #side: ContentSide
  readonly #shortest: number
  /** The open objects and arrays. Each call looks at one more value; false: there are no more. */
  readonly #open: (() => boolean)[] = []

  /** `shortest`: the shortest number to report in arguments of tools. */
  constructor(bytes: Buffer, root: JsonNode, side: ContentSide, shortest: number) {
    this.#bytes = bytes
    this.#side = side
    this.#shortest = shortest
    this.#lookAt(root, '', '', nowhere)
  }

  /** False: there is nothing left. */
  lookOn(): boolean {
    for (let left = valuesAtOnce; left > 0; left--) {
      const open = this.#open.at(-1)
      if (open === undefined) return false
      if (!open()) this.#open.pop()
    }
    return true
  }

  #lookAt(node: JsonNode, name: string, path: string, around: Surroundings): void {
    const { found } = this
    if (this.#side === 'answer' && logprobNames.has(name) && (node.kind === 'object' || node.kind === 'array'))
      return void found.logprobs.push(node)
    if (!around.isData && node.end - node.start > 4 && this.#isUnseen(node, name, around)) found.unseen = true
    if (node.kind === 'text') return this.#text(node, name, path, around)
    if (node.kind === 'scalar') return this.#number(node, name, path, around)
    if (node.kind === 'object') {
      const isData = around.isData || dataNames.has(name)
      const isArgument = around.isArgument || argumentsName.test(name)
      return this.#object(node, path, { ...around, isData, isArgument, isFree: around.isFree || freeNames.has(name) })
    }
    const { items } = node
    if (tokenNames.has(name) && holdsTokens(node)) found.unseen = true
    this.#each(items, (item, index) => this.#lookAt(item, name, `${path}[${index}]`, around))
  }

  #each<Value>(values: readonly Value[], look: (value: Value, index: number) => void): void {
    const entries = values.entries()
    this.#open.push(() => {
      const { done, value } = entries.next()
      if (done !== true) look(value[1], value[0])
      return done !== true
    })
  }

  #isFile(node: JsonNode): boolean {
    return node.kind === 'text' && isFile(readTextNode(this.#bytes, node) ?? '')
  }

  /** In a prompt, a document may be given by its URL. */
  #isUnseen(node: JsonNode, name: string, { isFree }: Surroundings): boolean {
    if (unseenNames.has(name)) return true
    if (this.#side !== 'prompt' || (isFree && batchFileNames.has(name))) return false
    return fileIdNames.has(name) || (name === 'source' && memberOf(node, 'url') !== null)
  }

  #object(node: ObjectNode, path: string, around: Surroundings): void {
    const type = memberOf(node, 'type')
    const word = type?.kind === 'text' ? readTextNode(this.#bytes, type) : null
    if (word !== null && !around.isData && unseenTypes.has(word)) this.found.unseen = true
    const role = memberOf(node, 'role')
    const isAnswer = role?.kind === 'text' ? answerRole.test(readTextNode(this.#bytes, role) ?? '') : around.isAnswer
    const signed = this.#side === 'prompt' && isAnswer && !around.isData ? this.#signedText(node, word) : null
    this.#each(node.members, ({ name, key, value }) => {
      const shown = around.isFree && !plainName.test(name) ? '*' : name
      const below = path === '' ? shown : `${path}.${shown}`
      if (around.isFree) this.#add(key, name, `${path}.*`, false, false)
      // Reasoning that only its provider can read.
      if (word === 'redacted_thinking' && name === 'data' && this.#isFile(value)) return
      const isInput = word === 'tool_use' && name === 'input'
      const [isData, isArgument] = [around.isData || isInput, around.isArgument || isInput]
      // Only the signed text itself is fixed: a client could put a signature next to something else.
      const isFixed = name === signed && value.kind === 'text'
      this.#lookAt(value, name, below, { isFixed, isAnswer, isFree: around.isFree, isData, isArgument })
    })
  }

  /** The text of reasoning that the provider has signed. If it were changed, the provider would reject it. */
  #signedText(node: ObjectNode, type: string | null): 'thinking' | 'text' | null {
    if (type === 'thinking') return memberOf(node, 'signature')?.kind === 'text' ? 'thinking' : null
    const thought = memberOf(node, 'thought')
    const isThought =
      thought?.kind === 'scalar' && this.#bytes.toString('latin1', thought.start, thought.end) === 'true'
    return isThought && memberOf(node, 'thoughtSignature')?.kind === 'text' ? 'text' : null
  }

  #text(node: TextNode, name: string, path: string, { isFixed, isFree }: Surroundings): void {
    const text = readTextNode(this.#bytes, node)
    if (text === null || text === '') return
    if (fileNames.has(name) && !path.startsWith(freeText) && isFile(text)) {
      this.found.unseen = true
      return
    }
    const names = !isFree && fixedNames.has(name)
    // Names in an answer are the provider's own.
    if (names && this.#side === 'answer') return
    this.#add(node, text, path, isFixed || names, jsonNames.has(name))
  }

  #number(node: ScalarNode, name: string, path: string, { isFixed, isFree, isArgument }: Surroundings): void {
    const isOne = isArgument || name === numberArgument
    if (!(isFree || isOne) || node.end - node.start < (isOne ? this.#shortest : shortestNumber)) return
    this.#add(node, this.#bytes.toString('latin1', node.start, node.end), path, isFixed, false)
  }

  #add(node: TextNode | ScalarNode, text: string, path: string, isFixed: boolean, isJson: boolean): void {
    this.found.texts.push({ node, path, text, isJson, isFixed })
  }
}

/** A prompt given as token numbers, which only the model's vocabulary turns into text. */
function holdsTokens({ items }: { items: readonly JsonNode[] }): boolean {
  const [first] = items
  return first?.kind === 'scalar' || (first?.kind === 'array' && first.items[0]?.kind === 'scalar')
}

/** Base64, or a URL that contains it. */
function isFile(text: string): boolean {
  return (text.length >= smallestFile || text.startsWith('data:')) && fileForm.test(text)
}

const fileForm = /^(?:data:[^,]{0,500};base64,)?[\w+/-]+={0,2}$/

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(/\s+/))
}
