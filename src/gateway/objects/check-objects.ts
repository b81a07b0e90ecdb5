import { type Fault, fault } from '../../core/errors.ts'
import type { ObjectName } from '../../core/objects/stored-object.ts'
import { loadOnce } from '../../core/threads/load-once.ts'
import type { Reference } from '../../lanes/contract.ts'
import { reject, rejectWith } from '../answer/respond.ts'
import type { Call } from '../request/call.ts'
import { isLaterStep } from '../upstream/expect-target.ts'
import { resultsOf } from './batch-results.ts'
import { findOwner, type Ownership } from './find-owner.ts'
import { ObjectNotes } from './object-notes.ts'

const earlierWork = loadOnce(() => import('./earlier-work.ts'))
const keptResponses = loadOnce(() => import('../responses/resolve-kept.ts'))

/**
 * Checks, before the plan, whether the caller owns the objects that the call names. True: the request goes on, with its `pin`. False: the
 * request has been answered.
 */
export async function checkObjects(call: Call): Promise<boolean> {
  const names = namedObjects(call)
  if ('code' in names) {
    await reject(call.arrival, names)
    return false
  }
  if (names.length === 0) return true
  const signals = call.trace.routingSignals.length
  const found = await findAll(call, names)
  if (found.kind === 'owned') {
    call.pin = found.pin
    call.arrival.objects ??= new ObjectNotes()
    call.arrival.objects.named = names
    call.arrival.objects.madeAt = found.object.createdAt
    call.arrival.objects.results = resultsOf(call, found.object)
    if (isLaterStep(call)) call.arrival.objects.earlier = await (await earlierWork()).findEarlierWork(call, found.pin)
    return true
  }
  const kept = mayNameKept(found, names) ? await resolveKept(call, names) : null
  // The body now contains the kept responses that it referred to; other objects are checked as usual.
  if (kept === 'whole') {
    if (found.kind === 'refused') call.trace.routingSignals.splice(signals, 1)
    return await checkObjects(call)
  }
  if (kept === 'answered') return false
  if (found.kind === 'refused') await reject(call.arrival, found.fault)
  else await answerNotFound(call, found.name, found.why)
  return false
}

const none: readonly Reference[] = []
const noBody = Buffer.alloc(0)

/** The objects that the call names, in its path, query and body. */
function namedObjects({ match, inspection, body }: Call): readonly Reference[] | Fault {
  const { upload } = body
  const { endpoint } = match
  const inside =
    upload === null
      ? endpoint.references(inspection.query, inspection.mayRefer ? body.bytes : noBody)
      : endpoint.formReferences(upload.fields)
  if ('code' in inside) return inside
  const { object, batchAsks } = endpoint
  if (match.object !== null && object !== null) {
    const named = { type: object.type, id: match.object }
    return [batchAsks === undefined ? named : { ...named, input: 'items' }, ...inside]
  }
  return inside.length === 0 ? none : inside
}

/**
 * Responses that the gateway itself keeps are not in the index: one may exist although the index does not have it, or cannot be reached.
 */
function mayNameKept(found: Exclude<Ownership, { kind: 'owned' }>, names: readonly ObjectName[]): boolean {
  if (found.kind === 'missing') return mayBeKept(found.name)
  return found.fault.code === 'object_index_unavailable' && names.some(mayBeKept)
}

/** The gateway keeps responses of translated answers (`src/gateway/responses/`). */
function mayBeKept({ type }: ObjectName): boolean {
  return type === 'response' || type === 'item'
}

async function resolveKept(call: Call, names: readonly ObjectName[]) {
  return await (await keptResponses()).resolveKept(call, names)
}

/** Also checks the objects that a batch's input files refer to. */
async function findAll(call: Call, names: readonly Reference[]): Promise<Ownership> {
  const found = await findOwner(call, names)
  const asksMany = call.match.endpoint.batchAsks !== undefined
  const inputs = names.filter(({ input }) => input === true || (input === 'items' && asksMany))
  if (inputs.length === 0 || found.kind !== 'owned') return found
  call.pin = found.pin
  const { checkInputs } = await import('./check-inputs.ts')
  return await checkInputs(call, names, inputs, found)
}

/** Answers as the provider would if the object did not exist, so that no client learns what others have. */
export async function answerNotFound(call: Call, name: ObjectName, why: string): Promise<void> {
  call.trace.routingSignals.push({ rule: 'object', verdict: 'deny', text: why })
  const rendered = call.lane.objects.notFound(call.match, name, call.id)
  const reason = fault('object_not_found', `There is no ${name.type.replaceAll('_', ' ')} of that id for this key.`)
  await rejectWith(call.arrival, reason, rendered)
}
