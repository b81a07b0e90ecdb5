import type { LaneName } from '../../core/lane.ts'
import type { AdminContext } from './context.ts'
import { planFor } from './explain-route.ts'
import { findScope } from './find.ts'

/** One small real request through the data plane; what came of it is read from its own record. */
export async function tryRoute(
  context: AdminContext,
  input: { model: string; project: string; environment: string; lane?: LaneName | undefined },
) {
  const scope = await findScope(context, input)
  const { lane } = planFor(context, scope, input)
  const call = {
    projectId: scope.project.id,
    environmentId: scope.environment.id,
    project: scope.project.name,
    environment: scope.environment.name,
    model: input.model,
    lane,
  }
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
