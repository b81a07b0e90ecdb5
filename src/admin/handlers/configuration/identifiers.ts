import { type IdPrefix, newId } from '../../../core/ids.ts'
import { readAttachment } from '../../../manifest/attachments.ts'
import type { ManifestPlan } from '../../../manifest/plan.ts'
import { type Identity, keyOf, type ManifestResource, type ResourceKind } from '../../../manifest/resource.ts'

const prefixes: Record<ResourceKind, IdPrefix> = {
  project: 'prj',
  environment: 'env',
  provider: 'prv',
  policy: 'pol',
  key: 'key',
  route: 'rte',
  alert: 'alr',
}

/** From names to ids: those of what is there, and new ones for what a plan makes. */
export class Identifiers {
  readonly #ids: Map<string, string>

  constructor(resources: readonly ManifestResource[], { changes }: ManifestPlan) {
    this.#ids = new Map(resources.map((resource) => [keyOf(resource), resource.id]))
    for (const change of changes)
      if (change.action === 'create') this.#ids.set(keyOf(change), newId(prefixes[change.kind]))
  }

  of(identity: Identity): string {
    const id = this.#ids.get(keyOf(identity))
    if (id === undefined)
      throw new Error(`the plan refers to ${identity.kind} ${identity.name}, which it does not have`)
    return id
  }

  ofWorkspace(kind: 'project' | 'provider' | 'policy', name: string): string {
    return this.of({ kind, name, project: null, environment: null })
  }

  environment(project: string, name: string): string {
    return this.of({ kind: 'environment', name, project, environment: null })
  }

  attachments(words: readonly string[]): { workspace: boolean; ids: string[] } {
    const identities = words.map((word) => readAttachment(word))
    const ids = identities.filter((identity) => identity !== null && identity !== undefined).map((one) => this.of(one))
    return { workspace: words.includes('workspace'), ids }
  }
}
