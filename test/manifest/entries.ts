import { kindSpecs, shownPath } from '../../src/manifest/kinds.ts'
import type { ManifestPlan } from '../../src/manifest/plan.ts'
import { readDocuments } from '../../src/manifest/read.ts'
import type { Fields, Identity, ManifestEntry, ManifestResource } from '../../src/manifest/resource.ts'
import { keyOf } from '../../src/manifest/resource.ts'

/** What a file says that has no mistakes. */
export function entriesOf(text: string, variables: Record<string, string> = {}): ManifestEntry[] {
  const { entries, problems } = readDocuments([{ name: 'config.yaml', text }], variables)
  if (problems.length > 0) throw new Error(problems.map(({ place, message }) => `${place}: ${message}`).join('\n'))
  return entries
}

export function mistakesIn(text: string, variables: Record<string, string> = {}): string[] {
  const { problems } = readDocuments([{ name: 'config.yaml', text }], variables)
  return problems.map(({ place, message }) => `${place}: ${message}`)
}

/** The state that a plan leads to, as the gateway would have it: what a second plan starts from. */
export function outcomeOf(plan: ManifestPlan, before: readonly ManifestResource[], owner: string): ManifestResource[] {
  const known = new Map(before.map((resource) => [keyOf(resource), resource]))
  return [...plan.outcome.values()].map((planned) => {
    const key = keyOf(planned)
    const owned = { ...known.get(key)?.owned }
    for (const mark of plan.release) if (mark.key === key) delete owned[mark.field]
    for (const mark of plan.own) if (mark.key === key) owned[mark.field] = owner
    return { ...identityOf(planned), id: known.get(key)?.id ?? `new ${key}`, fields: planned.fields, owned }
  })
}

function identityOf({ kind, project, environment, name }: Identity): Identity {
  return { kind, project, environment, name }
}

export function resource(
  identity: Partial<Identity> & Pick<Identity, 'kind' | 'name'>,
  fields: Fields,
  owner?: string,
): ManifestResource {
  const full = { project: null, environment: null, ...identity }
  const named = [kindSpecs[full.kind].nameField, ...Object.keys(fields).map((name) => shownPath(full.kind, name))]
  const owned = owner === undefined ? {} : Object.fromEntries(named.map((name) => [name, owner]))
  return { ...full, id: `id of ${keyOf(full)}`, fields, owned }
}
