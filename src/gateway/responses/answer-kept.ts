import { type Fault, fault } from '../../core/errors.ts'
import type { JsonObject } from '../../core/json/json-value.ts'
import type { Endpoint } from '../../lanes/contract.ts'
import { mintId } from '../../translate/ids.ts'
import { writeDocument } from '../../translate/json.ts'
import { answerOwn } from '../answer/answer-own.ts'
import { reject } from '../answer/respond.ts'
import type { Call } from '../request/call.ts'
import { itemsOf } from './items.ts'
import type { FoundResponse, KeptResponses } from './kept-responses.ts'

/** Answers a call about a kept response. `all`: the responses of its conversation, this one last. */
export async function answerKept(
  call: Call,
  named: FoundResponse,
  all: readonly FoundResponse[],
  store: KeptResponses,
): Promise<boolean> {
  const { keptForm } = call.match.endpoint
  const written = write(keptForm, call, named, all)
  if (written === null) return false
  if (isFault(written)) {
    await reject(call.arrival, written)
    return true
  }
  call.trace.note('stored', 'The gateway keeps this response itself; no provider was asked.')
  if (keptForm === 'deleted') store.forget(call.id, call.key, named)
  const shown = await show(call, writeDocument(written))
  await (Buffer.isBuffer(shown) ? answerOwn(call, shown) : reject(call.arrival, shown))
  return true
}

/** Applies content rules: the response may have been kept when others applied. */
async function show(call: Call, document: Buffer): Promise<Buffer | Fault> {
  const { contentPolicies, match } = call
  if (contentPolicies === null) return document
  const { inspectPrompt } = await import('../content/inspect-prompt.ts')
  const { ContentStage } = await import('../content/content-stage.ts')
  const denied = await inspectPrompt(call, contentPolicies)
  if (denied !== null || call.content === null) return denied ?? document
  return new ContentStage({ call, match }, call.content).whole(document)
}

function write(
  form: Endpoint['keptForm'],
  { inspection }: Call,
  { id, response, input }: FoundResponse,
  all: readonly FoundResponse[],
): JsonObject | Fault | null {
  if (form === 'response') return inspection.streamed ? notStreamed : response
  if (form === 'deleted') return { id, object: 'response', deleted: true }
  if (form === 'cancelled') return notInBackground
  if (form !== 'items') return null
  const before = all.slice(0, -1).flatMap(itemsOf)
  return writePage(
    [...before, ...input].map((item, index) => withId(item, id, index)),
    inspection.query,
  )
}

function isFault(written: JsonObject | Fault): written is Fault {
  return 'code' in written && 'message' in written
}

/** Items of a list need ids, even if the client gave none. */
function withId(item: JsonObject, responseId: string, index: number): JsonObject {
  return { id: mintId('item_', responseId, index), ...item }
}

const usualItems = 20
const mostItems = 100

/** Newest first, unless the client asks for the other order. */
function writePage(items: readonly JsonObject[], query: string): JsonObject {
  const asked = new URLSearchParams(query)
  const ordered = asked.get('order') === 'asc' ? items : items.toReversed()
  const after = asked.get('after')
  const from = after === null ? 0 : ordered.findIndex(({ id }) => id === after) + 1
  const limit = Number(asked.get('limit') ?? usualItems)
  const count = Number.isInteger(limit) && limit > 0 ? Math.min(limit, mostItems) : usualItems
  const data = ordered.slice(from, from + count)
  return {
    object: 'list',
    data,
    first_id: data.at(0)?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: from + count < ordered.length,
  }
}

const notStreamed = fault(
  'invalid_request',
  'The gateway keeps this response itself, and can return it only as a whole. Leave `stream` out.',
  {
    param: 'stream',
  },
)
const notInBackground = fault('invalid_request', 'Cannot cancel a synchronous response.')
