import { hiddenHeader, isHidden } from '../../../core/secrets/hidden-header.ts'
import type { PlannedChange } from '../../../manifest/plan.ts'
import { objectsIn } from '../../../manifest/resource.ts'
import type { ConfigurationStep, Provider, ProviderRevision, SealedCredential } from '../../../store/api.ts'
import type { AdminContext } from '../context.ts'
import { type Found, readCredential, sealCredential, unchecked } from '../providers/provider-check.ts'
import { sealHeaders } from '../providers/provider-headers.ts'
import type { Identifiers } from './identifiers.ts'
import { providerProperties, revisionOf } from './rows.ts'
import { type CurrentState, fingerprintOf } from './state.ts'

type ProviderStepContext = Pick<AdminContext, 'keyring' | 'caller' | 'runtime'>
type Audit = ConfigurationStep['audit']

export interface ProviderParts {
  state: CurrentState
  ids: Identifiers
  /** By name: what the check of a new address or credential found; without an entry, what was found before stays. */
  found: ReadonlyMap<string, Found>
  nextRevision: ReadonlyMap<string, number>
}

const properties = ['active', 'projects', 'tags', 'rpm', 'tpm', 'budget_usd_month']

/** Whether the change concerns what calls depend on, and thus makes a revision. */
export function revises({ changed }: PlannedChange): boolean {
  return changed.some((name) => !properties.includes(name))
}

export function providerSteps(
  context: ProviderStepContext,
  change: PlannedChange,
  parts: ProviderParts,
  audit: Audit,
): ConfigurationStep[] {
  return change.action === 'create'
    ? createSteps(context, change, parts, audit)
    : changeSteps(context, change, parts, audit)
}

function createSteps(
  context: ProviderStepContext,
  change: PlannedChange,
  { ids, found }: ProviderParts,
  audit: Audit,
): ConfigurationStep[] {
  const fields = change.after ?? {}
  const id = ids.of(change)
  const createdAt = new Date().toISOString()
  const revision: ProviderRevision = {
    number: 1,
    ...revisionOf(fields, undefined),
    headers: headersOf(context, id, change, {}),
    credentials: poolOf(context, id, change, []),
    createdAt,
    createdBy: context.caller.name,
  }
  const { readiness, models } = found.get(change.name) ?? unchecked()
  const provider: Provider = {
    id,
    name: change.name,
    kind: String(fields.kind),
    ...providerProperties(fields, ids),
    activeRevision: 1,
    readiness,
    models: models ?? [],
    createdAt,
    revision,
  }
  return [{ table: 'providers', method: 'insert', input: [provider, revision], audit }]
}

/** One audit line, whatever it takes to make the change. */
function changeSteps(
  context: ProviderStepContext,
  change: PlannedChange,
  parts: ProviderParts,
  audit: Audit,
): ConfigurationStep[] {
  const { ids, state, found, nextRevision } = parts
  const id = ids.of(change)
  const before = state.providers.get(id)
  const fields = change.after ?? {}
  if (before === undefined) return []
  const update: ConfigurationStep = {
    ...{ table: 'providers', method: 'update' },
    ...{ input: [id, providerProperties(fields, ids)], audit },
  }
  if (!revises(change)) return [update]
  const revision: ProviderRevision = {
    number: nextRevision.get(id) ?? before.activeRevision + 1,
    ...revisionOf(fields, before.revision),
    headers: headersOf(context, id, change, before.revision.headers),
    credentials: poolOf(context, id, change, before.revision.credentials),
    createdAt: new Date().toISOString(),
    createdBy: context.caller.name,
  }
  const checked = found.get(change.name)
  const steps: ConfigurationStep[] = [
    update,
    { table: 'providers', method: 'addRevision', input: [id, revision], audit: null },
  ]
  if (checked !== undefined)
    steps.push({
      table: 'providers',
      method: 'setReadiness',
      input: [id, checked.readiness, checked.models],
      audit: null,
    })
  return steps
}

/** What the file gave sealed, what it left alone as it stands. */
function headersOf(
  context: ProviderStepContext,
  providerId: string,
  { entry, after }: PlannedChange,
  before: Readonly<Record<string, string>>,
): Record<string, string> {
  const given = Object.entries((after?.headers ?? {}) as Record<string, string>).map(([name, shown]) => [
    name,
    entry?.headers?.[name]?.reveal() ?? (isHidden(shown) ? hiddenHeader : shown),
  ])
  return sealHeaders(context, providerId, Object.fromEntries(given), before)
}

/**
 * A credential that is there already stays the one it is, with what was made with it; a new one takes the place that the file
 * gives it, and what was made with the one that stood there and is given no more.
 */
function poolOf(
  context: ProviderStepContext,
  providerId: string,
  { changed, entry, after }: PlannedChange,
  before: readonly SealedCredential[],
): SealedCredential[] {
  const given = entry?.credentials ?? null
  if (!changed.includes('credentials') || given === null) return [...before]
  const known = new Map(before.map((one) => [fingerprintOf(providerId, one, context.keyring), one]))
  const fingerprints = objectsIn(after?.credentials).map(({ fingerprint }) => String(fingerprint))
  return given.flatMap((secret, place) => {
    const kept = known.get(fingerprints[place] ?? '')
    if (kept !== undefined) return [kept]
    const credential = readCredential(secret.reveal())
    if (credential === null) return []
    const replaced = before[place]
    const stays =
      replaced !== undefined && fingerprints.includes(String(fingerprintOf(providerId, replaced, context.keyring)))
    return [sealCredential(context, providerId, credential, stays ? undefined : replaced?.id)]
  })
}
