import type { LaneName } from '../../../core/lane.ts'
import { compilePolicies, effectivePolicy, mayUseModel } from '../../../policy/admit.ts'
import { PriceBook } from '../../../policy/prices/find-price.ts'
import { listPrices } from '../../../policy/prices/list-prices.ts'
import { indexKinds } from '../../../providers/index.ts'
import { compileRoutes, visibleModels } from '../../../routing/plan.ts'
import type { SnapshotProvider } from '../../../store/configuration/snapshot.ts'
import type { AdminContext } from '../context.ts'
import { findKey, findScope } from '../find.ts'
import { vendorOf } from '../prices/vendor-of.ts'
import { bareKey } from './bare-key.ts'

interface ModelsInput {
  key?: string | undefined
  project: string
  environment: string
  lane: LaneName
}

/** From the snapshot that the data plane has, so that it is the list that a client gets. */
export async function listKeyModels(context: AdminContext, input: ModelsInput) {
  const scope = await findScope(context, input)
  const { configuration, keys } = context.runtime.snapshot()
  const found = input.key === undefined ? null : await findKey(context, input.key, scope)
  const key = keys.find(({ id }) => id === found?.id) ?? bareKey(scope)
  const policy = effectivePolicy(compilePolicies(configuration), key)
  const providers = await context.store.providers.list()
  const vendors = new Map(providers.map((provider) => [provider.id, vendorOf(provider)]))
  const book = new PriceBook(await listPrices(context.store.prices, providers))
  const query = {
    lane: input.lane,
    projectId: key.projectId,
    environmentId: key.environmentId,
    onlyDemo: key.onlyDemo,
    kinds: indexKinds(context.kinds),
    maySee: (model: string) => mayUseModel(policy, model),
    priceOf: ({ id, name }: SnapshotProvider, model: string) =>
      book.find({ provider: name, vendor: vendors.get(id) ?? null, model }),
  }
  return visibleModels(query, compileRoutes(configuration)).map(
    ({ name, providerKind, contextTokens, outputTokens }) => ({
      model: name,
      kind: providerKind,
      context_tokens: contextTokens,
      output_tokens: outputTokens,
    }),
  )
}
