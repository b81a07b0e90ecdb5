import type { ModelPrice } from '../../core/model-price.ts'
import type { Gateway } from '../gateway.ts'
import type { LiveProvider } from '../thread/read-model.ts'

/** The price table's row for a model at a provider. It also states the model's largest input and output. */
export function listedPrice(
  { model: { prices } }: Gateway,
  { row, vendor }: Pick<LiveProvider, 'row' | 'vendor'>,
  model: string,
): ModelPrice | null {
  return prices.find({ provider: row.name, vendor, model })
}
