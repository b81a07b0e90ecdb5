import { promptTokens } from '../../core/cost/prompt-tokens.ts'
import { type Fault, fault } from '../../core/errors.ts'
import { asObjects, asText, type JsonObject } from '../../core/json/json-value.ts'
import type { ObjectName } from '../../core/objects/stored-object.ts'
import { readDocument, writeDocument } from '../../translate/json.ts'
import { reject } from '../answer/respond.ts'
import { indexFault } from '../objects/find-owner.ts'
import type { Call } from '../request/call.ts'
import { outOfMemory } from '../request/memory-budget.ts'
import { answerKept } from './answer-kept.ts'
import { itemsOf, readItems } from './items.ts'
import { type FoundResponse, type KeptReading, KeptResponses } from './kept-responses.ts'

/** More turns than any model can read. */
const mostBefore = 2000

/**
 * Looks for objects that no provider has among the gateway's kept responses. `whole`: the body now contains what it referred to.
 * `answered`: the request has been answered. Null: not found here either.
 */
export async function resolveKept(call: Call, names: readonly ObjectName[]): Promise<'whole' | 'answered' | null> {
  const store = new KeptResponses(call.gateway)
  const responses = idsOf(names, 'response')
  const items = idsOf(names, 'item')
  const owners = await store.findItems(call.key, items)
  const wanted = [...new Set([...responses, ...(owners?.values() ?? [])])]
  const reading: KeptReading = { body: call.body, length: 0 }
  const found = owners === null ? null : await store.find(call.key, wanted, reading)
  if (found === null || owners === null) return refuse(call, indexFault(call, 'it did not answer in time'))
  if (found === 'long') return refuse(call, tooLong)
  if (found === 'full') return refuse(call, outOfMemory())
  if (found.size === 0) return null
  const { endpoint, object } = call.match
  const named = object === null ? undefined : found.get(object)
  const before =
    named === undefined ? await findBefore(call, store, found, reading) : await findAll(call, store, named, reading)
  if (before === null) return null
  if ('code' in before) return refuse(call, before)
  if (named !== undefined) return (await answerKept(call, named, before, store)) ? 'answered' : null
  if ((endpoint.format ?? endpoint.counts) !== 'responses') return refuse(call, onlyResponses)
  const refused = writeWhole(call, { before, found, owners })
  return refused === null ? 'whole' : refuse(call, refused)
}

function idsOf(names: readonly ObjectName[], type: ObjectName['type']): string[] {
  return names.filter((name) => name.type === type).map(({ id }) => id)
}

async function refuse(call: Call, reason: Fault): Promise<'answered'> {
  await reject(call.arrival, reason)
  return 'answered'
}

/** The responses up to and including the one that the body names; null: some of them are no longer kept. */
async function findBefore(
  call: Call,
  store: KeptResponses,
  found: ReadonlyMap<string, FoundResponse>,
  reading: KeptReading,
) {
  const document = readDocument(call.body.bytes)
  if ('code' in document) return document
  const previous = asText(document.value.previous_response_id)
  const named = previous === null ? undefined : found.get(previous)
  if (previous === null) return []
  return named === undefined ? null : await findAll(call, store, named, reading)
}

async function findAll(
  call: Call,
  store: KeptResponses,
  named: FoundResponse,
  reading: KeptReading,
): Promise<readonly FoundResponse[] | Fault | null> {
  const all = [named]
  for (let ids = named.before; ids.length > 0; ) {
    if (all.length + ids.length > mostBefore) return tooManyBefore
    const earlier = await store.find(call.key, ids, reading)
    if (earlier === null) return indexFault(call, 'it did not answer in time')
    if (earlier === 'long') return tooLong
    if (earlier === 'full') return outOfMemory()
    if (earlier.size < ids.length) return null
    all.unshift(...ids.flatMap((id) => earlier.get(id) ?? []))
    ids = all[0]?.before ?? []
  }
  return all
}

interface Whole {
  before: readonly FoundResponse[]
  found: ReadonlyMap<string, FoundResponse>
  /** Ids of responses, by the ids of their items. */
  owners: ReadonlyMap<string, string>
}

/** Writes everything that the body refers to into it, so that any provider gets the whole conversation. */
function writeWhole(call: Call, { before, found, owners }: Whole): Fault | null {
  const document = readDocument(call.body.bytes)
  if ('code' in document) return document
  const { previous_response_id: named, input, ...rest } = document.value
  const isKept = before.length > 0
  const earlier = before.flatMap(itemsOf)
  const own = readItems(input).map((item) => keptItem(item, found, owners) ?? item)
  const value = { ...rest, ...(isKept || named === undefined ? {} : { previous_response_id: named }) }
  const bytes = writeDocument({ ...value, input: [...earlier, ...own] }, document.pieces)
  const { gateway, body, match, inspection } = call
  if (bytes.length > gateway.settings.bodyLimit) return tooLong
  if (!gateway.memoryBudget.reserve(body, body.bytes.length + bytes.length)) return outOfMemory()
  const inspected = match.endpoint.inspect(match, inspection.query, bytes)
  if ('code' in inspected) return inspected
  body.bytes = bytes
  call.inputTokens = promptTokens(bytes)
  call.inspection = inspected
  call.kept = {
    previous: isKept ? asText(named) : null,
    ids: before.map(({ id }) => id),
    items: earlier.length,
    used: [...new Map([...before, ...found.values()].map((each) => [each.id, each])).values()],
  }
  const turns = before.length === 1 ? 'one response' : `${before.length} responses`
  call.trace.note(
    'stored',
    isKept ? `Continues from ${turns} that the gateway keeps.` : 'Names items that the gateway keeps.',
  )
  return null
}

/** The kept item that an item with only an id refers to. */
function keptItem(
  item: JsonObject,
  found: ReadonlyMap<string, FoundResponse>,
  owners: ReadonlyMap<string, string>,
): JsonObject | null {
  const id = asText(item.id)
  const isReference = item.type === 'item_reference' || (item.type === undefined && item.role === undefined)
  const owner = id === null || !isReference ? undefined : owners.get(id)
  const response = owner === undefined ? undefined : found.get(owner)?.response
  return asObjects(response?.output).find((each) => each.id === id) ?? null
}

const onlyResponses = fault(
  'not_translatable',
  'The gateway itself keeps this response: its provider does not know it. Continue from it with POST /v1/responses.',
)
const tooManyBefore = fault(
  'invalid_request',
  `The conversation has more than ${mostBefore} responses. Begin a new one with what matters of it.`,
  { param: 'previous_response_id' },
)
const tooLong = fault(
  'request_too_large',
  'What the gateway keeps of this conversation is longer than a request may be. Begin a new one with what matters of it.',
)
