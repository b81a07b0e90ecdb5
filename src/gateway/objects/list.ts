import { fault } from '../../core/errors.ts'
import type { CountedPlace } from '../../core/objects/object-question.ts'
import type { ObjectName, ObjectType } from '../../core/objects/stored-object.ts'
import type { ObjectPage } from '../../lanes/contract.ts'
import { mayUse } from '../../routing/plan.ts'
import { relay } from '../answer/relay.ts'
import { reject, settleAborted } from '../answer/respond.ts'
import { journalAdmitted } from '../answer/settle.ts'
import type { Call } from '../request/call.ts'
import type { Answer } from '../upstream/evaluate.ts'
import { planFor } from '../upstream/plan-call.ts'
import { attemptAll } from '../upstream/send.ts'
import { answerNotFound } from './check-objects.ts'
import { describeObject, indexFault, isAt, isIn, scopeOf } from './find-owner.ts'
import { type Cursor, findCursor, itemKey, nameToken, withoutCursor } from './list-cursor.ts'

/** Pages without an item of the caller's that one request reads at most. */
const pagesLimit = 100
const namesAtOnce = 500

/** The state of a list: the current place, and the query for its next page. */
interface ListWalk {
  /** The client's own query. */
  asked: string
  places: CountedPlace[]
  index: number
  query: string
  /** How many of the caller's items are still to come at this place; null: unknown. */
  rest: number | null
  cursor: Cursor | null
  pages: number
}

/**
 * A provider's list shows the objects of the whole account. The caller gets only his own, page by page, from every credential that holds
 * some: pages without any of his are skipped, and the list ends after his last one.
 */
export async function answerList(call: Call): Promise<void> {
  const { arrival, lane, match } = call
  const { object } = match.endpoint
  if (object === null) return reject(arrival, fault('internal'))
  const walk = await beginWalk(call, object.type)
  if ('failed' in walk) return reject(arrival, indexFault(call, walk.failed))
  if ('missing' in walk) return answerNotFound(call, walk.missing, notOwn(walk.missing))
  await journalAdmitted(call)
  for (;;) {
    if (call.abort.aborted) return settleAborted(arrival)
    const answer = await askPage(call, walk)
    if (answer === null) return
    const { gated } = answer
    if (gated.kind === 'error') return relay(call, answer, null)
    const body = gated.kind === 'whole' ? gated.body : null
    const page = body === null ? null : lane.objects.page(match, body)
    if (body === null || page === null) {
      answer.upstream.abort()
      return reject(arrival, fault('provider_bad_response', unreadable))
    }
    const kept = await ownItems(call, walk, page)
    if ('failed' in kept) return reject(arrival, indexFault(call, kept.failed))
    const next = goOn(call, walk, page, kept.length)
    if (kept.length > 0 || next === null) return passPage(call, answer, { body, page, kept, walk, next })
    Object.assign(walk, next)
    if (++walk.pages >= pagesLimit) return reject(arrival, fault('overloaded', tooMany, { shouldRetry: false }))
  }
}

const unreadable = "The provider's list could not be read, so that it cannot be limited to what is yours."
const tooMany = `The next ${pagesLimit} pages of the provider's list hold nothing of yours; ask with a larger limit.`

function notOwn(name: ObjectName): string {
  return `The list cannot continue after ${describeObject(name)}, which does not belong to this scope.`
}

type BegunList = ListWalk | { failed: string } | { missing: ObjectName }

async function beginWalk(call: Call, type: ObjectType): Promise<BegunList> {
  const { objects } = call.gateway
  const scope = scopeOf(call.key)
  const counted = await objects.places(type, scope)
  if ('failed' in counted) return counted
  const places = counted.filter(({ providerId }) => isAsked(call, providerId))
  const { query } = call.inspection
  const cursor = await findCursor(objects, query, type, scope, places)
  if (cursor !== null && ('failed' in cursor || 'missing' in cursor)) return cursor
  const asked = { asked: query, places, cursor, pages: 0 }
  if (cursor === null) return { ...asked, index: 0, query, rest: places[0]?.count ?? null }
  const { index, begins } = cursor
  return { ...asked, index, query: cursor.query, rest: begins ? (places[index]?.count ?? null) : cursor.rest }
}

/** Whether the provider serves this lane, and is the one that the client named, if it named one. */
function isAsked({ gateway, lane, arrival, key }: Call, providerId: string): boolean {
  const provider = gateway.model.configuration.providers.get(providerId)
  const wanted = arrival.header('x-sp-provider')
  if (provider === undefined || !provider.kind.lanes.includes(lane.name)) return false
  if (!mayUse(key, provider.row)) return false
  return wanted === null || wanted === provider.row.name
}

/** Null: the request has ended. */
async function askPage(call: Call, walk: ListWalk): Promise<Answer | null> {
  const place = walk.places[walk.index]
  call.pin = place === undefined ? null : { ...place, what: 'next part of the list' }
  call.learn({ query: walk.query })
  const planned = planFor(call)
  if (planned.fault !== null) {
    await reject(call.arrival, planned.fault)
    return null
  }
  const outcome = await attemptAll(call, planned)
  if (outcome.kind === 'answered') return outcome.answer
  if (outcome.kind === 'gone') await settleAborted(call.arrival)
  else await reject(call.arrival, outcome.fault)
  return null
}

async function ownItems(
  { gateway, key }: Call,
  { places, index }: ListWalk,
  { items }: ObjectPage,
): Promise<number[] | { failed: string }> {
  const place = places[index]
  if (place === undefined || items.length === 0) return []
  const scope = scopeOf(key)
  const own = new Set<string>()
  // In portions, so that each look-up is answered in time: some lists have thousands of items a page.
  for (let from = 0; from < items.length; from += namesAtOnce) {
    const names = items.slice(from, from + namesAtOnce).map(({ name }) => name)
    const found = await gateway.objects.look(names, scope)
    if ('failed' in found) return found
    for (const object of found) if (isIn(scope, object) && isAt(place, object)) own.add(object.id)
  }
  return items.flatMap(({ name }, at) => (own.has(name.id) ? [at] : []))
}

type ListStep = Pick<ListWalk, 'index' | 'query' | 'rest'>

/** Where the list continues after this page; null: nowhere. */
function goOn({ lane }: Call, walk: ListWalk, page: ObjectPage, kept: number): ListStep | null {
  const { places, index, cursor } = walk
  if (places[index] === undefined) return null
  const rest = walk.rest === null ? null : walk.rest - kept
  const query = rest !== null && rest <= 0 ? null : lane.objects.nextPage(walk.query, page)
  if (query !== null) return { index, query, rest }
  const next = cursor?.backwards ? undefined : places[index + 1]
  return next === undefined ? null : { index: index + 1, query: withoutCursor(walk.asked, cursor), rest: next.count }
}

interface PassedPage {
  body: Buffer
  page: ObjectPage
  kept: readonly number[]
  walk: ListWalk
  next: ListStep | null
}

function passPage(call: Call, answer: Answer, passed: PassedPage): Promise<void> {
  const { body, page, kept, next } = passed
  const token = next === null ? null : nameNext(call, passed, next)
  const shown = { ...page, more: next !== null, token }
  const written = call.lane.objects.writePage(call.match, body, shown, kept, next !== null)
  const { head } = answer.gated
  return relay(call, { ...answer, gated: { kind: 'whole', head, body: written } }, null)
}

/** The token for the next page. If the protocol pages by the last item's id, remembers how many items follow that item. */
function nameNext(call: Call, { page, kept, walk }: PassedPage, next: ListStep): string | null {
  const place = walk.places[next.index]
  if (place === undefined) return null
  const here = next.index === walk.index
  const last = page.items[kept.at(-1) ?? -1]
  if (here && next.rest !== null && last !== undefined) {
    const item = itemKey(place, last.name.type, scopeOf(call.key), last.name.id)
    call.gateway.objects.ends.remember(item, next.rest)
  }
  return nameToken(place, here ? page.token : null, next.rest)
}
