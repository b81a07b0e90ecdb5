import { asArray, asObject, asText, type JsonObject } from '../../core/json/json-value.ts'
import type { CreatedObject } from '../../core/objects/batch-input.ts'
import type { ObjectName, ObjectType } from '../../core/objects/stored-object.ts'
import type { Inspection, Match } from '../contract.ts'
import { fileOfUri, nameObject } from './names.ts'

/**
 * The object's own name (`file.name`, else `name`, else an interaction's `id`), and every other object that the answer
 * names.
 */
export function createdObjects(
  { endpoint }: Match,
  _inspection: Inspection,
  answer: unknown,
): readonly CreatedObject[] {
  const root = asObject(answer)
  const { object } = endpoint
  if (root === null || object === null) return []
  // Only lists of batches name more than the listed objects.
  if (object.effect === 'list') return object.type === 'batch' ? asArray(root.operations).flatMap(batchResults) : []
  if (object.type === 'batch') return [...namedOnce(root, object), ...batchResults(root)]
  return [...namedOnce(root, object), ...readMade(root)]
}

/** An interaction that is not stored leaves only what its tools created. */
export function createdInteraction(match: Match, inspection: Inspection, answer: unknown): readonly CreatedObject[] {
  const root = asObject(answer)
  return inspection.stores || root === null ? createdObjects(match, inspection, answer) : readMade(root)
}

function namedOnce(root: JsonObject, { type }: { type: ObjectType }): ObjectName[] {
  const own = ownName(root, type)
  return own === null ? [] : [own]
}

/** The files that a batch names are its results. */
function batchResults(value: unknown): CreatedObject[] {
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

/** Members of answers that name an object created for the caller: results of a batch, a video, a sandbox. */
const naming: Readonly<Record<string, (text: string) => ObjectName | null>> = {
  downloadUri: uriObject,
  environment_id: (id) => ({ type: 'environment', id }),
  responsesFile: nameObject,
  tunedModel: nameObject,
  uri: uriObject,
}

/** What was found, cited or given by the client was not created here: its URIs may be anybody's. */
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

/** A provider chooses an answer's depth; deeper than anything real is ignored. */
const deepest = 32

/** Every other object that an answer names. */
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
    } else if (member !== '' && Object.hasOwn(naming, name)) {
      const object = naming[name]?.(member) ?? null
      if (object !== null) found.push(object)
    }
  }
}

function uriObject(uri: string): ObjectName | null {
  const id = fileOfUri(uri)
  return id === null ? null : { type: 'file', id }
}
