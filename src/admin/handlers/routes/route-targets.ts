import { type FormatName, laneOfFormat } from '../../../core/format.ts'
import { parseTarget as parseWritten, type WrittenTarget } from '../../../core/routes/written-target.ts'
import type { Provider, Route } from '../../../store/api.ts'
import type { SnapshotTarget } from '../../../store/configuration/snapshot.ts'
import type { AdminContext } from '../context.ts'
import { invalid } from '../fault.ts'
import { findProvider } from '../find.ts'

export interface TargetInput {
  provider?: string | undefined
  upstreamModel?: string | undefined
  targets?: string[] | undefined
}

export function parseTarget(text: string): WrittenTarget {
  const target = parseWritten(text)
  if (target === null)
    throw invalid(
      `${JSON.stringify(text)} is not a target.`,
      'Write PROVIDER[:MODEL][,weight=N][,priority=N][,format=FORMAT]. Formats: chat, responses, messages, generate.',
    )
  return target
}

/** As operations, the audit and configuration files name a target. */
export function showTarget(
  { providerId, upstreamModel, weight, priority, format }: SnapshotTarget,
  providerName: (id: string) => string,
) {
  return { provider: providerName(providerId), upstream_model: upstreamModel, weight, priority, format }
}

/** null: the input says nothing about targets. */
export async function readTargets(
  context: AdminContext,
  input: TargetInput,
  strategy: Route['strategy'],
  projectId: string,
): Promise<SnapshotTarget[] | null> {
  const written = writtenTargets(input)
  if (written === null) return null
  const targets: SnapshotTarget[] = []
  for (const [place, one] of written.entries()) {
    const provider = await findProvider(context, one.provider)
    refuseLimited(provider, projectId)
    refuseFormat(context, provider, one.format)
    targets.push({
      providerId: provider.id,
      upstreamModel: one.upstreamModel,
      weight: one.weight ?? 1,
      // Only `priority` reads an order into the list; the others choose among equals.
      priority: one.priority ?? (strategy === 'priority' ? place : 0),
      format: one.format,
    })
  }
  return targets
}

function writtenTargets({ provider, upstreamModel, targets }: TargetInput): WrittenTarget[] | null {
  if (provider !== undefined && targets !== undefined)
    throw invalid('--provider and --target exclude each other.', 'Give one of them.')
  if (upstreamModel !== undefined && provider === undefined)
    throw invalid('--upstream-model goes with --provider.', 'Add --provider NAME, or write --target PROVIDER:MODEL.')
  if (targets !== undefined) return targets.map(parseTarget)
  return provider === undefined
    ? null
    : [{ provider, upstreamModel: upstreamModel ?? null, weight: null, priority: null, format: null }]
}

/** Whether the vendor's API has the format at all; which of its models do, only the provider knows. */
function refuseFormat({ kinds }: AdminContext, { name, kind }: Provider, format: FormatName | null): void {
  const lanes = kinds.find((each) => each.kind === kind)?.lanes ?? []
  if (format !== null && !lanes.includes(laneOfFormat(format)))
    throw invalid(
      `The provider ${name} cannot be asked in the format ${format}.`,
      'Leave format= out: requests are translated where they need to be.',
    )
}

export function refuseLimited(provider: Provider, projectId: string): void {
  if (provider.projects !== null && !provider.projects.includes(projectId))
    throw invalid(
      `The provider ${provider.name} is limited to other projects.`,
      `Allow this project: spgw providers edit ${provider.name} --all-projects, or --project for each`,
    )
}
