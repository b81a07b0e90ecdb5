import { type Fault, fault } from '../../core/errors.ts'
import { type JsonNode, memberOf, readNodes } from '../../core/json/json-nodes.ts'
import type { ContentSide } from '../../core/policies/content-rules.ts'
import type { Inspection, Match } from '../../lanes/contract.ts'
import { scanFor, shortestArgument } from '../../policy/content/arguments-scan.ts'
import { type ContentPolicy, readyRules } from '../../policy/content/compile.ts'
import { highestIn, Placeholders } from '../../policy/content/placeholders.ts'
import type { Gateway } from '../gateway.ts'
import type { Trace } from '../request/trace.ts'
import { CallContent, failedRule } from './call-content.ts'
import { TextFinder } from './content-texts.ts'
import { joinParts } from './join-parts.ts'
import { mayMatch } from './may-match.ts'
import { noteUnseen } from './note-unseen.ts'
import { finishSliced, scanSliced, WorkTurn } from './scan-sliced.ts'

/** A call, or a request that is only tested against the rules. */
export interface Prompt {
  readonly trace: Pick<Trace, 'policySignals'>
  readonly body: { readonly bytes: Buffer; readonly upload: object | null }
  readonly match: Pick<Match, 'endpoint'>
  readonly inspection: Pick<Inspection, 'query'>
  readonly gateway: Pick<Gateway, 'patterns'>
  readonly abort: { readonly aborted: boolean }
  content: CallContent | null
}

/** Applies the content rules to the prompt. A fault: it must not be sent. Every attempt sends the redacted prompt. */
export async function inspectPrompt(call: Prompt, policies: readonly ContentPolicy[]): Promise<Fault | null> {
  const { trace, body, match, inspection, gateway } = call
  const placeholders = new Placeholders(highestIn(body.bytes))
  const content = new CallContent(policies, await readyRules(policies, gateway.patterns), trace, placeholders)
  call.content = content
  const denied = unseenBefore(call, content)
  if (denied !== null || content.rules.prompt.length === 0) return denied
  // Never denied: a query contains no prompt.
  if (inspection.query.length > 1) noteUnseen(trace, [], 'prompt', 'the query is not checked')
  if (body.upload !== null || match.endpoint.readWhole === true)
    return content.noteUnseen('prompt', 'forms and files are forwarded while they arrive')
  if (body.bytes.length === 0 || !mayMatch(body.bytes, 'prompt', content.rules)) return null
  try {
    return await inspectBody(body.bytes, content, call.abort)
  } catch (error) {
    return failedRule('prompt', error)
  }
}

/** Content that is known to stay unseen before the provider is paid for it. */
function unseenBefore({ match: { endpoint }, body }: Prompt, content: CallContent): Fault | null {
  const { responseForm, media } = endpoint
  const isFile = responseForm === 'bytes' || responseForm === 'lines'
  const isAnswer = isFile || media === 'answer' || (content.rules.answer.length > 0 && asksForMedia(body.bytes))
  if (!isAnswer && media === undefined) return null
  const carrier = media === 'sip' ? 'a telephone call' : 'WebRTC'
  const sides: ContentSide[] = isAnswer ? ['answer'] : ['prompt', 'answer']
  const what = isFile ? passingFiles : isAnswer ? noText : `${carrier} carries sound past the gateway`
  const denials = sides.map((side) => (content.rules[side].length > 0 ? content.noteUnseen(side, what) : null))
  return denials.find((denial) => denial !== null) ?? null
}

/**
 * Whether the answer may contain more than text: a chat may ask for sound, Gemini for any modality, a response for an image. Each request
 * of a batch may ask too; if they come in a file, the check is made on their answers.
 */
function asksForMedia(body: Buffer): boolean {
  if (!mediaForm.test(body.toString('latin1'))) return false
  const root = readNodes(body)
  const input = either(memberOf(root, 'batch'), 'inputConfig', 'input_config')
  if (either(input, 'fileName', 'file_name') !== null) return true
  const words = (node: JsonNode | null) =>
    node?.kind === 'array' ? node.items.map(({ start, end }) => body.toString('latin1', start + 1, end - 1)) : []
  const asks = (request: JsonNode | null) =>
    [memberOf(request, 'modalities'), request, either(request, 'generationConfig', 'generation_config')]
      .map((node) => words(node?.kind === 'array' ? node : either(node, 'responseModalities', 'response_modalities')))
      .some((asked) => asked.length > 0 && (/audio/i.test(asked.join()) || !/text/i.test(asked.join())))
  const type = memberOf(memberOf(root, 'tool_choice'), 'type')
  if (type !== null && body.toString('latin1', type.start + 1, type.end - 1) === 'image_generation') return true
  const batch = memberOf(memberOf(input, 'requests'), 'requests')
  return batch?.kind === 'array' ? batch.items.some((item) => asks(memberOf(item, 'request'))) : asks(root)
}

/** One pass over the text: searching the bytes for each name takes seven times as long. */
const mediaForm = /odalities"|"image_generation"|"file(?:N|_n)ame"/

const either = (node: JsonNode | null, name: string, other: string) => memberOf(node, name) ?? memberOf(node, other)

const passingFiles = 'files and sound pass as they are'
const noText = 'images, audio and files are not text'

/** `isKnown`: whether the format says where its texts are; if not, a text may be a part of something else. */
export async function inspectBody(
  bytes: Buffer,
  content: CallContent,
  abort: Prompt['abort'],
  isKnown = true,
): Promise<Fault | null> {
  const root = readNodes(bytes)
  if (root === null) return unreadable
  const turn = new WorkTurn()
  const finder = new TextFinder(bytes, root, 'prompt', shortestArgument(content.rules.prompt))
  await finishSliced(finder, turn)
  const { texts, unseen } = finder.found
  if (!isKnown && (unseen || texts.some(({ isFixed }) => !isFixed))) return unknownFrame
  const denied = unseen ? content.noteUnseen('prompt', 'images, audio, files and tokens are not text') : null
  if (denied !== null) return denied
  let at = ''
  const context = content.scanOf('prompt', () => at)
  const joined = await joinParts(texts, context, turn, (path) => {
    at = path
  })
  // Text that must not change cannot be redacted, so redact rules do not apply to it.
  const kept = context.rules.filter(({ rule }) => rule.action !== 'redact')
  const forFixed = { ...context, rules: kept }
  for (const text of texts) {
    if (text.isFixed && kept.length === 0) continue
    at = text.path
    const scan = scanFor(text, text.isFixed ? forFixed : context)
    const written = await scanSliced(joined.get(text) ?? text.text, scan, turn)
    if (abort.aborted || context.refused !== null) return context.refused
    if (!text.isFixed && written !== text.text) content.edits.push({ span: text.node, text: JSON.stringify(written) })
  }
  return null
}

const unknownFrame = fault(
  'policy_denied',
  'Content rules apply to this connection, and cannot read a message of this type. Send texts with `response.create` or `response.steer`.',
  { param: 'type' },
)
const unreadable = fault(
  'request_too_large',
  'Content rules apply to this request, but its body has too many values, or is nested too deeply, to be checked. Send less at a time.',
)
