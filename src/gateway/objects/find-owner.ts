import { type Fault, fault } from '../../core/errors.ts'
import type { Asker, ObjectName, ObjectScope, StoredObject } from '../../core/objects/stored-object.ts'
import { quote } from '../../core/text/quote.ts'
import type { Pin } from '../../routing/pinned-plan.ts'
import type { SnapshotKey } from '../../store/configuration/snapshot.ts'
import type { Gateway } from '../gateway.ts'
import type { Call } from '../request/call.ts'

/** A request that names more is guessing ids. */
const namesLimit = 1000
const retryAfterMs = 1000

export type Ownership =
  /** `object`: the first one named; if the path names an object, that one. */
  | { kind: 'owned'; pin: Pin; object: StoredObject }
  /** Not the caller's. `why` is for operators only. */
  | { kind: 'missing'; name: ObjectName; why: string }
  | { kind: 'refused'; fault: Fault }

/** Checks that everything a call names belongs to the caller, and finds where it is stored. */
export async function findOwner(call: Call, names: readonly ObjectName[]): Promise<Ownership> {
  if (names.length > namesLimit)
    return refused(fault('invalid_request', `The request names ${names.length} objects; ${namesLimit} are the most.`))
  const { gateway } = call
  const scope = scopeOf(call.key)
  const found = await gateway.objects.find(names, scope)
  if ('failed' in found) return refused(indexFault(call, found.failed))
  const usable = found.filter((object) => isUsable(call, object))
  const owned = usable.filter((object) => isIn(scope, object))
  const missing = names.find((name) => !owned.some((object) => isNamed(name, object)))
  if (missing !== undefined) return evaluateMissing(call, missing, found)
  return choosePlace(names, owned, call.header('x-sp-provider'), gateway)
}

export function scopeOf({ id: keyId, projectId, environmentId }: SnapshotKey): Asker {
  return { projectId, environmentId, keyId }
}

/** Only operators see the reason. */
export function indexFault({ trace }: Call, reason: string): Fault {
  trace.routingSignals.push({ rule: 'object', verdict: 'deny', text: `The index of objects: ${reason}.` })
  const message = 'The gateway cannot look up the owner of the object at the moment; try again.'
  return fault('object_index_unavailable', message, { retryAfterMs })
}

export function describeObject({ type, id }: ObjectName): string {
  return `${type.replaceAll('_', ' ')} ${quote(id)}`
}

function refused(reason: Fault): Ownership {
  return { kind: 'refused', fault: reason }
}

/** The same id at a provider of another lane is another object. Objects of a removed provider cannot be used. */
function isUsable({ gateway, lane }: Call, { providerId }: StoredObject): boolean {
  const provider = gateway.model.configuration.providers.get(providerId)
  return provider?.kind.lanes.includes(lane.name) === true
}

export function isIn(scope: ObjectScope, object: StoredObject): boolean {
  return object.projectId === scope.projectId && object.environmentId === scope.environmentId
}

function isNamed({ type, id }: ObjectName, object: StoredObject): boolean {
  return object.type === type && object.id === id
}

function evaluateMissing(call: Call, name: ObjectName, found: readonly StoredObject[]): Ownership {
  const { gateway } = call
  const [other] = found.filter((object) => isNamed(name, object))
  // Entries that wait to be journaled are not in the index yet.
  const degraded = gateway.journal.degraded ?? gateway.degraded.find(({ part }) => part === 'journal')?.reason
  if (other === undefined && degraded != null)
    return refused(indexFault(call, `the journal is not written: ${degraded}`))
  if (other !== undefined && !isIn(scopeOf(call.key), other)) recordOtherScope(call, name, other)
  return { kind: 'missing', name, why: explain(call, name, other) }
}

/** The same words whether nobody owns the object or another project does, which only operators of the workspace may know. */
function explain({ key, lane }: Call, name: ObjectName, other: StoredObject | undefined): string {
  const what = `The ${describeObject(name)}`
  if (other !== undefined && isIn(scopeOf(key), other))
    return `${what} lives at a provider that does not speak ${lane.name}.`
  return `${what} does not belong to this scope. An object created outside this gateway can be adopted (spgw objects adopt).`
}

/** A note for operators of the whole workspace. */
function recordOtherScope({ trace }: Call, name: ObjectName, { projectId, environmentId }: StoredObject): void {
  const text = `The ${describeObject(name)} belongs to another scope (project ${projectId}, environment ${environmentId}).`
  trace.note('object', text)
}

/**
 * The provider and credential that hold all named objects. If the same id exists in several accounts of the caller's scope, the header
 * decides, else the newest.
 */
function choosePlace(
  names: readonly ObjectName[],
  owned: readonly StoredObject[],
  providerName: string | null,
  gateway: Gateway,
): Ownership {
  const [first, ...others] = names
  const places = owned
    .filter((object) => first !== undefined && isNamed(first, object))
    .filter((place) => others.every((name) => owned.some((each) => isNamed(name, each) && isAt(place, each))))
  const [newest, ...older] = places.toSorted((one, other) => (one.createdAt < other.createdAt ? 1 : -1))
  if (newest === undefined || first === undefined) return refused(fault('invalid_request', differentAccounts(names)))
  const nameOf = (object: StoredObject) => gateway.model.configuration.providers.get(object.providerId)?.row.name
  const chosen = older.length === 0 ? newest : (places.find((each) => nameOf(each) === providerName) ?? newest)
  return {
    kind: 'owned',
    pin: { what: describeObject(first), providerId: chosen.providerId, credentialId: chosen.credentialId },
    object: chosen,
  }
}

export function isAt(
  place: Pick<StoredObject, 'providerId' | 'credentialId'>,
  object: Pick<StoredObject, 'providerId' | 'credentialId'>,
): boolean {
  return place.providerId === object.providerId && place.credentialId === object.credentialId
}

function differentAccounts(names: readonly ObjectName[]): string {
  const shown = names.slice(0, 5).map(describeObject).join(', ')
  return `The request names objects that live in different accounts and cannot be used together: ${shown}.`
}
