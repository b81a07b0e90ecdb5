import type { LaneName } from '../../../core/lane.ts'
import type { Plan } from '../../../routing/plan.ts'
import { audited } from '../audited.ts'
import type { AdminContext } from '../context.ts'
import { type FoundScope, findScope } from '../find.ts'
import { planFor } from './explain-route.ts'

/** One small real request through the data plane, audited as it goes; what came of it is read from its own record. */
export async function tryRoute(
  context: AdminContext,
  input: { model: string; project: string; environment: string; lane?: LaneName | undefined },
) {
  const scope = await findScope(context, input)
  const { lane, planned } = planFor(context, scope, input)
  const call = {
    projectId: scope.project.id,
    environmentId: scope.environment.id,
    project: scope.project.name,
    environment: scope.environment.name,
    model: input.model,
    lane,
  }
  await note(context, scope, planned.route, { model: input.model, lane })
  const answer = await context.runtime.tryRoute(call)
  await context.runtime.ingest()
  const record = await context.store.records.get(answer.requestId)
  const error = record?.error ?? null
  return {
    ok: answer.status >= 200 && answer.status < 300,
    status: answer.status,
    request_id: answer.requestId,
    lane,
    provider: record?.provider ?? null,
    upstream_model: record?.upstream_model ?? null,
    duration_ms: record?.duration_ms ?? null,
    error: error === null ? null : { code: error.code, message: error.message },
  }
}

/** Against the route; where none matches, against the environment that it was sent in. */
async function note(
  context: AdminContext,
  { environment }: FoundScope,
  route: Plan['route'],
  after: { model: string; lane: LaneName },
): Promise<void> {
  const resource =
    route === null
      ? { kind: 'environment', id: environment.id, name: environment.name }
      : { kind: 'route', id: route.id, name: route.model }
  await audited(context, { operation: 'routes.test', resource, before: null, after }).audit.note()
}
