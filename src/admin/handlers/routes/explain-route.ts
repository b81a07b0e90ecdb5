import { type LaneName, laneNames } from '../../../core/lane.ts'
import { checkCall, compilePolicies, effectivePolicy, mayUseModel } from '../../../policy/admit.ts'
import { compileRoutes, type Plan, plan } from '../../../routing/plan.ts'
import type { Key } from '../../../store/api.ts'
import type { SnapshotKey } from '../../../store/configuration/snapshot.ts'
import type { AdminContext } from '../context.ts'
import { type FoundScope, findKey, findScope } from '../find.ts'

export interface Explain {
  model: string
  project: string
  environment: string
  key?: string | undefined
  lane?: LaneName | undefined
}

/** The very plan that a request would get, from the snapshot that the data plane has. */
export async function explainRoute(context: AdminContext, input: Explain) {
  const scope = await findScope(context, input)
  const key = input.key === undefined ? null : await findKey(context, input.key, scope)
  const snapshotKey = key === null ? null : findSnapshotKey(context, key)
  const { lane, planned } = planFor(context, scope, input, snapshotKey)
  const verdict = judge(context, snapshotKey, lane, input.model)
  const route = planned.route
  return {
    model: input.model,
    lane,
    project: scope.project.name,
    environment: scope.environment.name,
    key: key === null ? null : { id: key.id, name: key.name },
    route:
      route === null
        ? null
        : {
            id: route.id,
            model: route.model,
            project: route.project,
            environment: route.environment,
            strategy: route.strategy,
          },
    taken: planned.candidates.map((candidate) => ({
      provider: candidate.provider.name,
      upstream_model: candidate.upstreamModel,
      reason: candidate.reason,
    })),
    skipped: planned.skipped.map(({ provider, upstreamModel, reason }) => ({
      provider,
      upstream_model: upstreamModel,
      reason,
    })),
    policy_signals: [...verdict.signals],
    routing_signals: planned.signals,
    // Policies are asked first, so what they refuse is what a client would see.
    error: pick(verdict.fault ?? planned.fault),
    note: planned.fault === null ? null : planned.operatorNote,
  }
}

const pick = (fault: { code: string; message: string } | null) =>
  fault === null ? null : { code: fault.code, message: fault.message }

/** Without a lane asked for, the first that a target's provider speaks. */
export function planFor(
  context: AdminContext,
  { project, environment }: FoundScope,
  { model, lane }: { model: string; lane?: LaneName | undefined },
  key: SnapshotKey | null = null,
): { lane: LaneName; planned: Plan } {
  const { configuration } = context.runtime.snapshot()
  const compiled = compileRoutes(configuration)
  const effective = key === null ? null : effectivePolicy(compilePolicies(configuration), key)
  const ask = (asked: LaneName): Plan =>
    plan(
      {
        lane: asked,
        model,
        projectId: project.id,
        environmentId: environment.id,
        providerName: null,
        operation: null,
        serves: () => true,
        formatsOf: (kind) => context.kinds.find((one) => one.kind === kind)?.formats ?? [],
        health: (slot, credentials, target) => context.runtime.health(slot, credentials, target, key?.id ?? null),
        now: Date.now(),
        random: Math.random,
        ...(effective === null ? {} : { maySee: (name: string) => mayUseModel(effective, name) }),
      },
      compiled,
    )
  const asked = lane ?? laneNames.find((one) => ask(one).fault === null) ?? 'openai'
  return { lane: asked, planned: ask(asked) }
}

/** The current secret's row; null when the data plane does not know the key (revoked long ago). */
function findSnapshotKey({ runtime }: AdminContext, key: Key): SnapshotKey | null {
  return runtime.snapshot().keys.find(({ id }) => id === key.id) ?? null
}

function judge({ runtime }: AdminContext, key: SnapshotKey | null, lane: LaneName, model: string) {
  if (key === null) return { fault: null, signals: [] }
  const effective = effectivePolicy(compilePolicies(runtime.snapshot().configuration), key)
  return checkCall({ lane, model, bytes: 0, bodyLimit: Number.MAX_SAFE_INTEGER }, effective)
}
