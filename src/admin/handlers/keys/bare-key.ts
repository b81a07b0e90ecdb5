import type { SnapshotKey } from '../../../store/configuration/snapshot.ts'
import type { FoundScope } from '../find.ts'

/** A key that is nobody's: the policies of its scope and of the workspace hold for it. */
export function bareKey({ project, environment }: FoundScope, named = { id: '', name: '' }): SnapshotKey {
  return {
    ...named,
    projectId: project.id,
    project: project.name,
    environmentId: environment.id,
    environment: environment.name,
    ...{ hash: '', lastFour: '', policyId: null, tags: {}, expiresAt: null, revokedAt: null },
  }
}
