import type { ObjectName } from '../../core/stored-object.ts'
import { asObject, type JsonObject } from '../json-value.ts'
import { fileOfUri, nameObject } from './names.ts'

/** Names of members in answers that tell of an object made on the caller's behalf: results of a batch, a video, a sandbox. */
const tellers: Readonly<Record<string, (text: string) => ObjectName | null>> = {
  downloadUri: uriObject,
  environment_id: (id) => ({ type: 'environment', id }),
  responsesFile: nameObject,
  tunedModel: nameObject,
  uri: uriObject,
}

/** What was found, cited or given by the client is nothing that was made: its URIs may be anybody's. */
export const others = new Set([
  'annotations',
  'arguments',
  'citationMetadata',
  'groundingMetadata',
  'inlinedResponses',
  'input',
  'result',
  'urlContextMetadata',
])

/** An answer is a provider's, so its depth is its own; what lies deeper than anything real is not looked at. */
const deepest = 32

/** Everything in an answer that tells of another object. */
export function readMade(answer: JsonObject): ObjectName[] {
  const found: ObjectName[] = []
  look(answer, found, 0)
  return found
}

function look(value: unknown, found: ObjectName[], depth: number): void {
  if (depth > deepest) return
  if (Array.isArray(value)) {
    for (const element of value) look(element, found, depth + 1)
    return
  }
  for (const [name, member] of Object.entries(asObject(value) ?? {})) {
    if (typeof member !== 'string') {
      if (!others.has(name)) look(member, found, depth + 1)
    } else if (member !== '' && Object.hasOwn(tellers, name)) {
      const object = tellers[name]?.(member) ?? null
      if (object !== null) found.push(object)
    }
  }
}

function uriObject(uri: string): ObjectName | null {
  const id = fileOfUri(uri)
  return id === null ? null : { type: 'file', id }
}
