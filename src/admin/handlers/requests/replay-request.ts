import type { MissingBodies } from '../../../core/capture.ts'
import { memberOf, readNodes } from '../../../core/json/json-nodes.ts'
import type { LaneName } from '../../../core/lane.ts'
import type { RequestRecord } from '../../../core/record.ts'
import type { SnapshotKey } from '../../../store/configuration/snapshot.ts'
import type { Bodies } from '../../contract/requests/bodies.ts'
import type { Compared, ReplayedEvent } from '../../contract/requests/request-replay.ts'
import { keyPlace, whyNoBodies } from '../../contract/requests/why-no-bodies.ts'
import { audited } from '../audited.ts'
import type { AdminContext } from '../context.ts'
import { invalid, notFound, refused } from '../fault.ts'
import { findProvider, findScope } from '../find.ts'
import { readWholeText } from './answer-reader.ts'
import { compareRequests } from './compare-requests.ts'
import { openBodies, requireAdmin } from './open-bodies.ts'
import { answerEvents, chooseKey } from './send-request.ts'

interface ReplayInput {
  id: string
  key?: string | undefined
  model?: string | undefined
  provider?: string | undefined
}

interface Replay {
  record: RequestRecord & { lane: LaneName }
  bodies: Bodies
  path: string
  body: string
  headers: Record<string, string>
}

/** The request as it was kept, through the data plane like any other; then its record beside the first one's. */
export async function* replayRequest(
  context: AdminContext,
  input: ReplayInput,
  signal: AbortSignal,
): AsyncGenerator<ReplayedEvent> {
  const replay = await readReplay(context, input)
  const { record, path, body, headers } = replay
  const key = await chooseReplayKey(context, record, input.key)
  const resource = { kind: 'key', id: key.id, name: key.name }
  const provider = input.provider === undefined ? null : await findProvider(context, input.provider)
  const model = input.model ?? record.model
  const after = { request: record.id, model, key: key.name, ...(provider === null ? {} : { provider: provider.name }) }
  await audited(context, { operation: 'requests.replay', resource, before: null, after }).audit.note()
  const agent = `spgw requests replay (${context.caller.surface})`
  const place = provider === null ? {} : { onlyProviderId: provider.id }
  const pieces = context.runtime.send({ key, path, body, headers, agent, ...place }, signal)
  let text = ''
  let id = ''
  for await (const event of answerEvents(record.lane, { path, body }, pieces)) {
    if (event.kind === 'begin') id = event.request_id
    if (event.kind === 'part') text += event.text
    yield event
  }
  const again = await findAgain(context, id)
  if (again === null) return
  const before = describe(record, readAnswer(replay))
  const now = describe(again, text)
  yield { kind: 'compared', before, after: now, ...compareRequests(before, now) }
}

async function readReplay(context: AdminContext, input: ReplayInput): Promise<Replay> {
  await context.runtime.ingest()
  const record = await context.store.records.get(input.id)
  if (record === null)
    throw notFound('request', input.id, 'The header x-sp-request-id has the id. List them: spgw requests list')
  await requireAdmin(context, record)
  const { bodies, missing } = await openBodies(context, record.id)
  const { lane } = record
  if (bodies === null || bodies.request === null || lane === null) throw notKept(record, missing)
  const { request } = bodies
  if (request.method !== 'POST')
    throw refuse(
      record,
      `it is a ${request.method}, which calls no model`,
      'Only requests with a body can be repeated.',
    )
  if (bodies.capture === 'redacted') throw refuse(record, 'it was stored redacted', captureFully(record))
  if (request.truncated) throw refuse(record, 'only its beginning was stored', sendAnother(record))
  if (request.content === null)
    throw refuse(record, `of a body of type ${request.type ?? 'unknown'} only the size was stored`, sendAnother(record))
  if (request.masked) throw refuse(record, 'it contained a key, which was not stored', sendAnother(record))
  const { path, body } = withModel({ path: request.path, body: request.content }, input.model)
  return { record: { ...record, lane }, bodies, path, body, headers: request.headers }
}

function notKept(record: RequestRecord, missing: MissingBodies | null): Error {
  const { reason, hint } = whyNoBodies(record, missing)
  return refused(`${record.id} cannot be sent again. ${reason}`, hint)
}

const refuse = ({ id }: RequestRecord, reason: string, hint: string) =>
  refused(`${id} cannot be sent again: ${reason}.`, hint)

function captureFully(record: RequestRecord): string {
  return `To store future requests: spgw policies add NAME --capture full --attach ${keyPlace(record)}`
}

function sendAnother({ model, key, project, environment }: RequestRecord): string {
  const as = key === null ? '' : ` --project ${project} --environment ${environment} --key ${key.name}`
  return `Send a similar one: spgw requests send ${JSON.stringify(model ?? 'MODEL')} --body '…'${as}`
}

async function chooseReplayKey(
  context: AdminContext,
  { project, environment, key }: RequestRecord,
  name: string | undefined,
): Promise<SnapshotKey> {
  const wanted = name ?? key?.id
  if (project === null || environment === null || wanted === undefined)
    throw refused('The record names no key to send it as.', 'Only requests with a valid key can be repeated.')
  return chooseKey(context, await findScope(context, { project, environment }), wanted)
}

/** In the path, where the lane has it there, or in the body, which stays as it is otherwise. */
export function withModel(
  call: { path: string; body: string },
  model: string | undefined,
): { path: string; body: string } {
  if (model === undefined) return call
  const [, before, after] = /^(.*\/models\/)[^/:]+(:.*)$/.exec(call.path) ?? []
  if (before !== undefined) return { ...call, path: `${before}${encodeURIComponent(model)}${after}` }
  const bytes = Buffer.from(call.body)
  const named = memberOf(readNodes(bytes), 'model')
  if (named === null) throw invalid('The request names no model, so it cannot be replaced.', 'Leave --model out.')
  const [head, tail] = [bytes.subarray(0, named.start), bytes.subarray(named.end)]
  return { ...call, body: `${head}${JSON.stringify(model)}${tail}` }
}

function readAnswer({ record, bodies: { answer } }: Replay): string | null {
  if (answer === null || answer.content === null) return null
  return readWholeText(record.lane, { type: answer.type, content: answer.content })
}

/** Its record stands once its end does, which its last byte waits for; null where it never came so far. */
async function findAgain({ runtime, store }: AdminContext, id: string): Promise<RequestRecord | null> {
  if (id === '') return null
  await runtime.ingest()
  return store.records.get(id)
}

/** Of one that failed without a text, a person reads why. */
function readableOf({ error }: RequestRecord, answer: string | null): string | null {
  return answer || (error === null ? answer : `${error.code}: ${error.message}`)
}

function describe(record: RequestRecord, text: string | null): Compared {
  const answer = readableOf(record, text)
  const { id, status, model, provider, upstream_model, duration_ms, first_byte_ms, tokens, cost } = record
  const used = { input: tokens?.input ?? null, output: tokens?.output ?? null, cost_usd: cost?.usd ?? null }
  const figures = { duration_ms, first_byte_ms, ...used }
  return { request_id: id, status, model, provider, upstream_model, ...figures, answer }
}
