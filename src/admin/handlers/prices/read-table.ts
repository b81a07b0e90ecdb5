import { fillPrice, type ModelPrice } from '../../../core/cost/model-price.ts'
import { givenPrice } from '../../contract/prices/price-fields.ts'
import { invalid } from '../fault.ts'
import { isLitellm, readLitellm } from './read-litellm.ts'
import { parsePrices, readGivenPrices } from './read-price.ts'

export { checkRates } from './check-rates.ts'
export { readGivenPrices }

/** A table in place of the shipped one: prices of this gateway's form, or LiteLLM's file. */
export function readTable(files: Record<string, string>, version: string): ModelPrice[] {
  const [[file = '', text = ''] = [], ...others] = Object.entries(files)
  const parsed = others.length === 0 ? parsePrices(file, text) : null
  const table = isLitellm(parsed) ? readLitellm(parsed, version) : readOwn(files, version)
  if (table.length > 0) return table
  throw invalid('There is no price in the file that this gateway can use.', 'Compare it with: spgw prices list --json')
}

function readOwn(files: Record<string, string>, version: string): ModelPrice[] {
  // What a list has of single providers, it has from other places.
  return readGivenPrices(files, givenPrice)
    .filter(({ provider }) => provider == null)
    .map((price) => fillPrice({ ...price, provider: null, source: 'shipped', version: price.version ?? version }))
}
