import { asArray, asObject, asText, type JsonObject } from '../../core/json-value.ts'
import type { CreatedObject, ObjectName, ObjectType } from '../../core/stored-object.ts'
import type { Inspection, Match } from '../contract.ts'
import { fileOfUri, nameObject } from './names.ts'

/** By what it calls itself: `file.name`, else `name`, else (an interaction) `id`; and all that stands in it. */
export function createdObjects(
  { endpoint }: Match,
  _inspection: Inspection,
  answer: unknown,
): readonly CreatedObject[] {
  const root = asObject(answer)
  const { object } = endpoint
  if (root === null || object === null) return []
  // Of lists only batches say more than what they list.
  if (object.effect === 'list') return object.type === 'batch' ? asArray(root.operations).flatMap(tellBatch) : []
  if (object.type === 'batch') return [...namedOnce(root, object), ...tellBatch(root)]
  return [...namedOnce(root, object), ...readMade(root)]
}

/** One that is not stored leaves only what its tools made. */
export function createdInteraction(match: Match, inspection: Inspection, answer: unknown): readonly CreatedObject[] {
  const root = asObject(answer)
  return inspection.stores || root === null ? createdObjects(match, inspection, answer) : readMade(root)
}

function namedOnce(root: JsonObject, { type }: { type: ObjectType }): ObjectName[] {
  const own = ownName(root, type)
  return own === null ? [] : [own]
}

/** Of the files that it tells of, those are its results. */
function tellBatch(value: unknown): CreatedObject[] {
  const batch = asObject(value)
  const batchId = asText(batch?.name)
  return batch === null || batchId === null ? [] : readMade(batch).map((made) => ({ ...made, batchId }))
}

function ownName(root: JsonObject, type: ObjectType): ObjectName | null {
  const name = asText(asObject(root.file)?.name) ?? asText(root.name)
  if (name !== null) return nameObject(name)
  const id = asText(root.id)
  return id === null || type !== 'interaction' ? null : { type, id }
}

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
