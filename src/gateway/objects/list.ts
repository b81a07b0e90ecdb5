import { fault } from '../../core/errors.ts'
import { reachFaultPoint } from '../../core/fault-point.ts'
import type { CountedPlace, ObjectName, ObjectType } from '../../core/stored-object.ts'
import type { ObjectPage } from '../../lanes/contract.ts'
import type { Attempted } from '../../routing/attempt.ts'
import type { Plan } from '../../routing/plan.ts'
import { estimateHold } from '../estimate.ts'
import type { Exchange } from '../exchange.ts'
import type { Gateway } from '../gateway.ts'
import type { Answer } from '../judge.ts'
import { relay } from '../relay.ts'
import { refuse, settleStopped } from '../respond.ts'
import { answerNotFound } from './check-objects.ts'
import { describeObject, indexFault, isAt, isIn, scopeOf } from './find-owner.ts'
import { type Cursor, findCursor, itemKey, nameToken, withoutCursor } from './list-cursor.ts'

/** Pages that one request goes through at most, while they hold nothing of the caller's. */
const pagesLimit = 100
const namesAtOnce = 500

/** The pipeline's own steps. */
export interface ListSteps {
  plan(gateway: Gateway, exchange: Exchange): Plan
  attempt(gateway: Gateway, exchange: Exchange, planned: Plan): Promise<Attempted<Answer>>
}

/** Where a list stands: at which of the places, and with which query. */
interface Walk {
  /** The client's own query. */
  asked: string
  places: CountedPlace[]
  index: number
  query: string
  /** So many of the caller's items are still to come at this place, as far as is known. */
  rest: number | null
  cursor: Cursor | null
  pages: number
}

/**
 * A provider's list shows what everybody on the account has. The caller gets his own of it, page by page: over every
 * credential that holds some, on while a page would be empty, and no further than the last of them.
 */
export async function answerList(gateway: Gateway, exchange: Exchange, steps: ListSteps): Promise<void> {
  const type = exchange.match!.endpoint.object!.type
  const walk = await beginWalk(gateway, exchange, type)
  if ('failed' in walk) return refuse(gateway, exchange, indexFault(exchange, walk.failed))
  if ('missing' in walk) return answerNotFound(gateway, exchange, walk.missing, notOwn(walk.missing))
  exchange.mark('admitted')
  await gateway.journal.append({ kind: 'admitted', record: exchange.record('admitted', null, estimateHold(exchange)) })
  reachFaultPoint('journal.after-admitted')
  for (;;) {
    if (exchange.stopped) return settleStopped(gateway, exchange)
    const answer = await askPage(gateway, exchange, steps, walk)
    if (answer === null) return
    const { gated } = answer
    if (gated.kind === 'error') return relay(gateway, exchange, answer, null)
    const body = gated.kind === 'whole' ? gated.body : null
    const page = body === null ? null : exchange.lane!.objects.page(exchange.match!, body)
    if (body === null || page === null) {
      answer.call.abort()
      return refuse(gateway, exchange, fault('provider_bad_response', unreadable))
    }
    const kept = await ownItems(gateway, exchange, walk, page)
    if ('failed' in kept) return refuse(gateway, exchange, indexFault(exchange, kept.failed))
    const next = goOn(exchange, walk, page, kept.length)
    if (kept.length > 0 || next === null) return passPage(gateway, exchange, answer, { body, page, kept, walk, next })
    Object.assign(walk, next)
    if (++walk.pages >= pagesLimit)
      return refuse(gateway, exchange, fault('overloaded', tooMany, { shouldRetry: false }))
  }
}

const unreadable = "The provider's list could not be read, so that it cannot be limited to what is yours."
const tooMany = `The next ${pagesLimit} pages of the provider's list hold nothing of yours; ask with a larger limit.`

function notOwn(name: ObjectName): string {
  return `The list is to go on at ${describeObject(name)}, which is none of this scope's.`
}

type Begun = Walk | { failed: string } | { missing: ObjectName }

async function beginWalk(gateway: Gateway, exchange: Exchange, type: ObjectType): Promise<Begun> {
  const scope = scopeOf(exchange)
  const counted = await gateway.objects.places(type, scope)
  if ('failed' in counted) return counted
  const places = counted.filter(({ providerId }) => isAsked(gateway, exchange, providerId))
  const { query } = exchange.inspection!
  const cursor = await findCursor(gateway.objects, query, type, scope, places)
  if (cursor !== null && ('failed' in cursor || 'missing' in cursor)) return cursor
  const asked = { asked: query, places, cursor, pages: 0 }
  if (cursor === null) return { ...asked, index: 0, query, rest: places[0]?.count ?? null }
  const { index, begins } = cursor
  return { ...asked, index, query: cursor.query, rest: begins ? (places[index]?.count ?? null) : cursor.rest }
}

/** Of this lane, and of the provider that the client has named, where it has. */
function isAsked(gateway: Gateway, exchange: Exchange, providerId: string): boolean {
  const provider = gateway.model.configuration.providers.get(providerId)
  const wanted = exchange.header('x-sp-provider')
  if (provider === undefined || !gateway.formatsOf(provider.row.kind).includes(exchange.lane!.name)) return false
  return wanted === null || wanted === provider.row.name
}

/** Null: the exchange has its end. */
async function askPage(gateway: Gateway, exchange: Exchange, steps: ListSteps, walk: Walk): Promise<Answer | null> {
  const place = walk.places[walk.index]
  exchange.pin = place === undefined ? null : { ...place, what: 'next part of the list' }
  exchange.inspection = { ...exchange.inspection!, query: walk.query }
  const planned = steps.plan(gateway, exchange)
  if (planned.fault !== null) {
    await refuse(gateway, exchange, planned.fault)
    return null
  }
  const outcome = await steps.attempt(gateway, exchange, planned)
  if (outcome.kind === 'answered') return outcome.answer
  if (outcome.kind === 'gone') await settleStopped(gateway, exchange)
  else await refuse(gateway, exchange, outcome.fault)
  return null
}

async function ownItems(
  gateway: Gateway,
  exchange: Exchange,
  { places, index }: Walk,
  { items }: ObjectPage,
): Promise<number[] | { failed: string }> {
  const place = places[index]
  if (place === undefined || items.length === 0) return []
  const scope = scopeOf(exchange)
  const own = new Set<string>()
  // In portions, each of which is answered in time: some lists have thousands of items a page.
  for (let from = 0; from < items.length; from += namesAtOnce) {
    const names = items.slice(from, from + namesAtOnce).map(({ name }) => name)
    const found = await gateway.objects.look(names, scope)
    if ('failed' in found) return found
    for (const object of found) if (isIn(scope, object) && isAt(place, object)) own.add(object.id)
  }
  return items.flatMap(({ name }, at) => (own.has(name.id) ? [at] : []))
}

type Step = Pick<Walk, 'index' | 'query' | 'rest'>

/** Where the list goes on behind this page; null: nowhere. */
function goOn(exchange: Exchange, walk: Walk, page: ObjectPage, kept: number): Step | null {
  const { places, index, cursor } = walk
  if (places[index] === undefined) return null
  const rest = walk.rest === null ? null : walk.rest - kept
  const query = rest !== null && rest <= 0 ? null : exchange.lane!.objects.nextPage(walk.query, page)
  if (query !== null) return { index, query, rest }
  const next = cursor?.backwards ? undefined : places[index + 1]
  return next === undefined ? null : { index: index + 1, query: withoutCursor(walk.asked, cursor), rest: next.count }
}

interface PassedPage {
  body: Buffer
  page: ObjectPage
  kept: readonly number[]
  walk: Walk
  next: Step | null
}

function passPage(gateway: Gateway, exchange: Exchange, answer: Answer, passed: PassedPage): Promise<void> {
  const { body, page, kept, next } = passed
  const token = next === null ? null : nameNext(gateway, exchange, passed, next)
  const written = exchange.lane!.objects.writePage(
    exchange.match!,
    body,
    { ...page, more: next !== null, token },
    kept,
    next !== null,
  )
  const { head } = answer.gated
  return relay(gateway, exchange, { ...answer, gated: { kind: 'whole', head, body: written } }, null)
}

/** A token for what comes next; and where the protocol goes by the last item's id, what is known of what comes behind it. */
function nameNext(gateway: Gateway, exchange: Exchange, { page, kept, walk }: PassedPage, next: Step): string {
  const place = walk.places[next.index]!
  const here = next.index === walk.index
  const last = page.items[kept.at(-1) ?? -1]
  if (here && next.rest !== null && last !== undefined) {
    const item = itemKey(place, last.name.type, scopeOf(exchange), last.name.id)
    gateway.objects.ends.remember(item, next.rest)
  }
  return nameToken(place, here ? page.token : null, next.rest)
}
