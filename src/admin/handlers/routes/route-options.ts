import {
  hedgeAfterForm,
  parseHedgeAfter,
  parseShadow,
  usualHedgeShare,
  writeHedgeAfter,
  writeShadow,
} from '../../../core/routes/route-options.ts'
import type { Route } from '../../../store/api.ts'
import type { AdminContext } from '../context.ts'
import { invalid } from '../fault.ts'
import { findProvider } from '../find.ts'
import type { NamesById } from '../names.ts'
import { refuseLimited } from './route-targets.ts'

interface OptionInput {
  sticky?: boolean | undefined
  hedgeAfter?: string | undefined
  hedgeShare?: number | undefined
  shadow?: string | undefined
}

type RouteOptions = Pick<Route, 'sticky' | 'hedge' | 'shadow'>

/** What a route does besides choosing among its targets; what the input leaves out stays as it was. */
export async function readOptions(
  context: AdminContext,
  input: OptionInput,
  before: RouteOptions | null,
  projectId: string,
): Promise<RouteOptions> {
  return {
    sticky: input.sticky ?? before?.sticky ?? false,
    hedge: readHedge(input, before?.hedge ?? null),
    shadow: input.shadow === undefined ? (before?.shadow ?? null) : await readShadow(context, input.shadow, projectId),
  }
}

function readHedge({ hedgeAfter, hedgeShare }: OptionInput, before: Route['hedge']): Route['hedge'] {
  if (hedgeAfter === 'none') return null
  const after = hedgeAfter === undefined ? (before?.after ?? null) : parseHedgeAfter(hedgeAfter)
  if (hedgeAfter !== undefined && after === null)
    throw invalid(
      `${JSON.stringify(hedgeAfter)} is not a time to hedge after.`,
      `Write ${hedgeAfterForm}; none: never.`,
    )
  if (after === null && hedgeShare !== undefined)
    throw invalid('--hedge-share goes with --hedge-after.', 'Add --hedge-after p95, or a duration.')
  return after === null ? null : { after, share: hedgeShare ?? before?.share ?? usualHedgeShare }
}

async function readShadow(context: AdminContext, written: string, projectId: string): Promise<Route['shadow']> {
  if (written === 'none') return null
  const target = parseShadow(written)
  if (target === null) throw invalid(`${JSON.stringify(written)} is not a target.`, 'Write PROVIDER[:MODEL], or none.')
  const provider = await findProvider(context, target.provider)
  refuseLimited(provider, projectId)
  return { providerId: provider.id, upstreamModel: target.upstreamModel }
}

export function showOptions({ sticky, hedge, shadow }: RouteOptions, names: NamesById) {
  return {
    sticky,
    hedge: hedge === null ? null : { after: writeHedgeAfter(hedge.after), share: hedge.share },
    shadow: shadow === null ? null : writeShadow(names.provider(shadow.providerId), shadow.upstreamModel),
  }
}
