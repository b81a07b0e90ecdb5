import type { ModelPrice } from '../../core/model-price.ts'
import type { Gateway } from '../gateway.ts'
import type { LiveProvider } from '../thread/read-model.ts'

/** The price table's row of a model at a provider, which also says what the model reads and writes at most. */
export function listedPrice(
  { model: { prices } }: Gateway,
  { row, vendor }: Pick<LiveProvider, 'row' | 'vendor'>,
  model: string,
): ModelPrice | null {
  return prices.find({ provider: row.name, vendor, model })
}
