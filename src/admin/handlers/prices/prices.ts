import { fillPrice, type ModelPrice } from '../../../core/cost/model-price.ts'
import { identity, PriceBook } from '../../../policy/prices/find-price.ts'
import { listPrices } from '../../../policy/prices/list-prices.ts'
import type { Provider } from '../../../store/api.ts'
import { givenPrice } from '../../contract/prices/price-fields.ts'
import { audited } from '../audited.ts'
import { operations } from '../base.ts'
import type { AdminContext } from '../context.ts'
import { invalid, notFound } from '../fault.ts'
import { findProvider } from '../find.ts'
import { vendorOf } from './vendor-of.ts'

const resource = (model: string) => ({ kind: 'price', id: model, name: model })

async function all({ store }: AdminContext): Promise<ModelPrice[]> {
  return await listPrices(store.prices, await store.providers.list())
}

async function providerOf(context: AdminContext, name: string | undefined): Promise<Provider | null> {
  return name === undefined ? null : await findProvider(context, name)
}

/** The price that was set for exactly this; null: none. */
async function findOwn({ store }: AdminContext, model: string, provider: Provider | null): Promise<ModelPrice | null> {
  const own = await store.prices.list()
  const found = own.find(({ providerId, price }) => price.model === model && providerId === (provider?.id ?? null))
  return found === undefined ? null : { ...found.price, provider: provider?.name ?? null }
}

/** The price that applies to a model; null: none. */
async function findPrice(
  context: AdminContext,
  known: readonly ModelPrice[],
  { model, provider: name }: { model: string; provider?: string | undefined },
): Promise<ModelPrice | null> {
  const provider = await providerOf(context, name)
  const place = { provider: provider?.name ?? '', vendor: provider === null ? null : vendorOf(provider) }
  // Without a provider, a name that only one vendor has is that vendor's, such as a model ID of Bedrock; what it costs in a region is beside.
  const named = known.filter(
    (price) => price.model === model && (price.provider === null || price.source !== 'shipped'),
  )
  const [only, ...others] = provider === null ? named : []
  return only !== undefined && others.length === 0 ? only : new PriceBook(known).find({ ...place, model })
}

/** Of two prices of the same, only one would be left. */
function refuseTwice(prices: readonly ModelPrice[]): void {
  const known = new Set<string>()
  for (const price of prices) {
    const name = identity(price)
    if (known.has(name))
      throw invalid(`There are two prices of ${price.model}.`, 'Leave one of them, or give each its own provider.')
    known.add(name)
  }
}

export const prices = {
  list: operations.prices.list.handler(async ({ context, input: { match, vendor, changed, model, provider } }) => {
    const known = await all(context)
    const applying = model === undefined ? null : await findPrice(context, known, { model, provider })
    const named = provider === undefined ? null : (await findProvider(context, provider)).name
    const among = model === undefined ? known.filter((price) => named === null || price.provider === named) : [applying]
    const found = among
      .filter((price) => price !== null)
      .filter(
        (price) =>
          (match === undefined || price.model.toLowerCase().includes(match.toLowerCase())) &&
          (vendor === undefined || price.vendor === vendor) &&
          (!changed || price.source !== 'shipped'),
      )
    return found.sort((a, b) => identity(a).localeCompare(identity(b), 'en'))
  }),
  show: operations.prices.show.handler(async ({ context, input }) => {
    const found = await findPrice(context, await all(context), input)
    if (found === null)
      throw notFound('price', input.model, `Set one: spgw prices set ${input.model} --input USD --output USD`)
    return found
  }),
  set: operations.prices.set.handler(async ({ context, input }) => {
    const provider = await providerOf(context, input.provider)
    const { readPrice } = await import('./read-price.ts')
    const price = readPrice(input, provider?.name ?? null, new Date().toISOString())
    const before = await findOwn(context, input.model, provider)
    const line = { operation: 'prices.set', resource: resource(input.model), before, after: price }
    await audited(context, line).prices.put([{ providerId: provider?.id ?? null, price }])
    await context.runtime.publish()
    return price
  }),
  remove: operations.prices.remove.handler(async ({ context, input }) => {
    const provider = await providerOf(context, input.provider)
    const before = await findOwn(context, input.model, provider)
    if (before === null)
      throw notFound('price that was set', input.model, 'See those that were: spgw prices list --changed')
    const line = { operation: 'prices.remove', resource: resource(input.model), before, after: null }
    await audited(context, line).prices.remove(input.model, provider?.id ?? null)
    await context.runtime.publish()
    return { model: input.model, provider: provider?.name ?? null, removed: true as const }
  }),
  import: operations.prices.import.handler(async ({ context, input }) => {
    const version = new Date().toISOString()
    const providers = new Map((await context.store.providers.list()).map(({ id, name }) => [name, id]))
    const { checkRates, readGivenPrices } = await import('./read-table.ts')
    const given = readGivenPrices(input.files, givenPrice).map((price) => {
      const providerId = price.provider == null ? null : (providers.get(price.provider) ?? null)
      if (price.provider != null && providerId === null)
        throw invalid(
          `The price of ${price.model} names the provider ${price.provider}, which does not exist.`,
          'Add it first.',
        )
      return { providerId, price: fillPrice({ ...price, vendor: null, source: 'imported', version }) }
    })
    for (const { price } of given) checkRates(price, false)
    refuseTwice(given.map(({ price }) => price))
    const after = { prices: given.map(({ price }) => price.model).slice(0, 100), count: given.length }
    const line = { operation: 'prices.import', resource: resource('import'), before: null, after }
    await audited(context, line).prices.put(given)
    await context.runtime.publish()
    return { changed: given.length, version }
  }),
  update: operations.prices.update.handler(async ({ context, input: { files, shipped } }) => {
    if (shipped === (files !== undefined))
      throw invalid('Give either a file or --shipped.', 'For example: spgw prices update --file table.json')
    const version = new Date().toISOString()
    const { checkRates, readTable } = await import('./read-table.ts')
    const table = files === undefined ? null : readTable(files, version)
    for (const price of table ?? []) checkRates(price, false)
    refuseTwice(table ?? [])
    const after = table === null ? { table: 'shipped' } : { table: version, count: table.length }
    const line = { operation: 'prices.update', resource: resource('table'), before: null, after }
    await audited(context, line).prices.setTable(table)
    await context.runtime.publish()
    const now = table ?? (await listPrices({ ...context.store.prices, list: async () => [] }, []))
    return { changed: now.length, version: now[0]?.version ?? version }
  }),
}
