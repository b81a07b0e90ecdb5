import { type Fault, fault } from '../../core/errors.ts'
import { type Span, scanObject } from '../../core/json-scan.ts'
import type { FrameAsk, Inspection, NamedModel } from '../contract.ts'
import { readValue } from '../json-value.ts'
import { isFault } from '../request-body.ts'
import { modelName } from './endpoints.ts'

/** The first frame, in text or binary, is `{"setup": {"model": "models/…"}}`. */
export function askSetup(frame: Buffer): FrameAsk | Fault | null {
  const scan = scanObject(frame, ['setup'])
  if (!scan.ok || scan.members.length === 0) return null
  const model = readModels(frame, scan.members)
  return model !== null && isFault(model) ? model : { model, further: [], bodyOf: null }
}

const setups = ['bidiGenerateContentSetup', 'bidi_generate_content_setup']

/** The body that asks for a token may hold the setup that the token is good for. */
export function inspectSetup(found: Inspection, body: Buffer): Inspection | Fault {
  const scan = scanObject(body, setups)
  const model = scan.ok ? readModels(body, scan.members) : null
  if (model === null) return found
  return isFault(model) ? model : { ...found, model: model.name, modelSpans: model.spans }
}

function readModels(bytes: Buffer, holders: readonly Span[]): NamedModel | Fault | null {
  let name: string | null = null
  const spans: Span[] = []
  for (const span of holders.flatMap((holder) => findModels(bytes, holder))) {
    const value = readValue(bytes, span)
    const found = typeof value === 'string' ? modelName(value) : null
    if (found === null) return badModel('`setup.model` is no name of a model; write it like `models/NAME`.')
    if (name !== null && name !== found)
      return badModel('`setup.model` is given twice with different values; send it once.')
    name = found
    spans.push(span)
  }
  return name === null ? null : { name, spans }
}

function findModels(bytes: Buffer, holder: Span): Span[] {
  const scan = scanObject(bytes, ['model', 'setup'], holder)
  if (!scan.ok) return []
  return scan.members.flatMap(({ name, start, end }) =>
    name === 'model' ? [{ start, end }] : findModels(bytes, { start, end }),
  )
}

function badModel(message: string): Fault {
  return fault('invalid_request', message, { param: 'setup.model' })
}
