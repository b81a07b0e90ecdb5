import { asArray, asObject, asText, type JsonObject } from '../../../core/json/json-value.ts'
import type { CreatedObject } from '../../../core/objects/batch-input.ts'
import type { ObjectName, ObjectType } from '../../../core/objects/stored-object.ts'
import type { Endpoint, Inspection } from '../../contract.ts'

type ObjectsReader = (answer: JsonObject, stores: boolean) => CreatedObject[]

/** Objects that answers name besides the one that was created. Source: the answer types of the vendor's SDK. */
const readers: Readonly<Partial<Record<ObjectType, ObjectsReader>>> = {
  chat_completion: chatObjects,
  response: responseObjects,
  conversation: ({ data }) => asArray(data).flatMap((item) => named('item', asObject(item)?.id)),
  batch: batchFiles,
  upload: ({ file }) => named('file', asObject(file)?.id),
  fine_tuning_job: ({ result_files, fine_tuned_model }) => [
    ...asArray(result_files).flatMap((id) => named('file', id)),
    ...named('tuned_model', fine_tuned_model),
  ],
}

type AnsweredObjects = Parameters<Endpoint['createdObjects']>

export function createdObjects(...answered: AnsweredObjects): readonly CreatedObject[] {
  return readAnswer(answered, false, ownId)
}

/** For a call that names one object and creates another of its type. */
export function createdBeside(...answered: AnsweredObjects): readonly CreatedObject[] {
  return readAnswer(answered, true, ownId)
}

/** The answer has the session beside its connection data. */
export function createdSession(...answered: AnsweredObjects): readonly CreatedObject[] {
  return readAnswer(answered, true, ({ session }) => asObject(session)?.id)
}

/** The answer is the run, which names its thread. Of a streamed run only the thread is known. */
export function createdThread(...answered: AnsweredObjects): readonly CreatedObject[] {
  return readAnswer(answered, false, ({ id, thread_id }) => thread_id ?? id)
}

/** Includes what its graders ask, which calls that run it do not say. */
export function createdEval(...answered: AnsweredObjects): readonly CreatedObject[] {
  const [, { asks = [] }] = answered
  const models = asks.flatMap(({ model }) => model ?? [])
  const input = { lines: 0, models, objects: [], unread: null, asks: [...asks] }
  return createdObjects(...answered).map((each) => (each.type === 'eval' ? { ...each, input } : each))
}

function ownId({ id }: JsonObject): unknown {
  return id
}

/** `always`: the call creates an object, although its row names another one. */
function readAnswer(
  [match, inspection, answer]: AnsweredObjects,
  always: boolean,
  idOf: (answer: JsonObject) => unknown,
): readonly CreatedObject[] {
  const { object } = match.endpoint
  const body = asObject(answer)
  if (object === null || body === null || object.effect === 'delete') return []
  if (object.effect === 'list') return asArray(body.data).flatMap((item) => objectsIn(object.type, item, true))
  // An object that can be shown has been stored.
  const found = objectsIn(object.type, body, inspection.stores || object.effect === 'use')
  const creates = always || object.effect === 'create'
  if (creates && keeps(object.type, body, inspection)) found.unshift(...named(object.type, idOf(body)))
  return found.filter(({ id }) => id !== match.object)
}

function objectsIn(type: ObjectType, value: unknown, stores: boolean): CreatedObject[] {
  const answer = asObject(value)
  return answer === null ? [] : (readers[type]?.(answer, stores) ?? [])
}

/** The results are in the output file; the requests in the error file used nothing. */
function batchFiles({ id, output_file_id, error_file_id }: JsonObject): CreatedObject[] {
  const batchId = asText(id)
  const output = named('file', output_file_id).map((file) => (batchId === null ? file : { ...file, batchId }))
  return [...output, ...named('file', error_file_id)]
}

/**
 * Some calls are inspected as if they stored their answer, because they leave other objects. The answer itself says
 * whether it was stored.
 */
function keeps(type: ObjectType, answer: JsonObject, { stores }: Inspection): boolean {
  // A response in the background can be fetched by its id, whatever `store` says.
  if (type === 'response') return stores && (answer.store !== false || answer.background === true)
  return type !== 'chat_completion' || stores
}

/** A stored answer has an id for each of its items. A container remains whether the response is stored or not. */
export function responseObjects(answer: JsonObject, stores: boolean): ObjectName[] {
  const output = [...asArray(answer.output), ...asArray(answer.data)].map(asObject)
  const items = stores && answer.store !== false ? output.flatMap((item) => named('item', item?.id)) : []
  const containers = output.flatMap((item) => [
    ...named('container', item?.container_id),
    ...asArray(item?.content).flatMap((part) =>
      asArray(asObject(part)?.annotations).flatMap((note) => named('container', asObject(note)?.container_id)),
    ),
  ])
  return [...named('conversation', asObject(answer.conversation)?.id), ...items, ...unique(containers)]
}

/** Later requests can refer to audio from the model. It is in `message`, or in `delta` of a stream. */
export function chatObjects(answer: JsonObject): ObjectName[] {
  return asArray(answer.choices).flatMap((choice) => {
    const said = asObject(choice)
    return named('item', asObject((asObject(said?.message) ?? asObject(said?.delta))?.audio)?.id)
  })
}

function unique(names: readonly ObjectName[]): ObjectName[] {
  return [...new Map(names.map((name) => [name.id, name])).values()]
}

function named(type: ObjectType, id: unknown): ObjectName[] {
  const text = asText(id)
  return text === null ? [] : [{ type, id: text }]
}
