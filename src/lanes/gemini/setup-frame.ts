import { type Fault, fault } from '../../core/errors.ts'
import { type Span, scanObject } from '../../core/json/json-scan.ts'
import { readValue } from '../../core/json/json-value.ts'
import type { FrameAsk, Inspection, Match, NamedModel } from '../contract.ts'
import { scanFrame } from '../frames.ts'
import { isFault, isLongName, rejectMisspelled } from '../request-body.ts'
import { inspectHead } from './inspection.ts'
import { modelName } from './names.ts'
import { referringNames } from './references.ts'

/**
 * A message has exactly one of these members. Source: `LiveClientMessage` and `LiveMusicClientMessage` of
 * `@google/genai` 3, in both JSON spellings.
 */
const messages = [
  'setup',
  'clientContent',
  'client_content',
  'realtimeInput',
  'realtime_input',
  'toolResponse',
  'tool_response',
  'musicGenerationConfig',
  'music_generation_config',
  'playbackControl',
  'playback_control',
]

/** The first frame, in text or binary, is `{"setup": {"model": "models/…"}}`; any may name an object. */
export function askMessage(frame: Buffer, bodyOf: Match): FrameAsk | Fault | null {
  const watch = { names: referringNames, seen: false }
  const members = scanFrame(frame, messages, watch)
  if ('code' in members) return members
  const held = members.filter(({ start }) => frame[start] !== startOfNull)
  if (held.length > 1)
    return fault('invalid_request', `A message may have only one of ${messages.join(', ')}; send several messages.`)
  const setup = held.filter(({ name }) => name === 'setup')
  if (setup.length === 0 && !watch.seen) return null
  const model = readModels(frame, setup)
  if (model !== null && isFault(model)) return model
  const opens = setup.length > 0
  return { opens, asksResponse: false, model, additionalModels: [], bodyOf: watch.seen ? bodyOf : null, own: [] }
}

const startOfNull = 0x6e

const setups = ['bidiGenerateContentSetup', 'bidi_generate_content_setup']

/** A request for a token may contain the setup that the token is valid for. */
export function inspectSetup(match: Match, query: string, body: Buffer): Inspection | Fault {
  const found = inspectHead(match, query)
  if (isFault(found)) return found
  const scan = scanObject(body, setups)
  const model = scan.ok ? (rejectMisspelled(body, scan) ?? readModels(body, scan.members)) : null
  if (model === null) return found
  return isFault(model) ? model : { ...found, model: model.name, modelSpans: model.spans }
}

function readModels(bytes: Buffer, holders: readonly Span[]): NamedModel | Fault | null {
  let name: string | null = null
  const spans: Span[] = []
  const found: Span[] = []
  for (const holder of holders) {
    const wrong = findModels(bytes, holder, 0, found)
    if (wrong !== null) return wrong
  }
  for (const span of found) {
    const value = isLongName(span) ? null : readValue(bytes, span)
    const named = typeof value === 'string' ? modelName(value) : null
    if (named === null) return badModel('`setup.model` is not the name of a model; write it like `models/NAME`.')
    if (name !== null && name !== named)
      return badModel('`setup.model` is given twice with different values; send it once.')
    name = named
    spans.push(span)
  }
  return name === null ? null : { name, spans }
}

/** No provider reads a setup that is nested more than once. Each level costs another scan. */
const deepest = 4

function findModels(bytes: Buffer, holder: Span, depth: number, found: Span[]): Fault | null {
  const scan = scanObject(bytes, ['model', 'setup'], holder)
  if (!scan.ok) return null
  let wrong = rejectMisspelled(bytes, scan)
  for (const { name, start, end } of scan.members) {
    if (name === 'model') found.push({ start, end })
    else if (depth < deepest) wrong ??= findModels(bytes, { start, end }, depth + 1, found)
  }
  return wrong
}

function badModel(message: string): Fault {
  return fault('invalid_request', message, { param: 'setup.model' })
}
