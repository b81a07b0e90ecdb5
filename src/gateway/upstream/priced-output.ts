import type { Gateway } from '../gateway.ts'
import type { LiveProvider } from '../thread/read-model.ts'

/** A model's largest answer in tokens as the price table knows it, where its provider's own list does not say. */
export function pricedOutput(
  { model: { prices } }: Gateway,
  { row, vendor }: Pick<LiveProvider, 'row' | 'vendor'>,
  model: string,
): number | null {
  return prices.find({ provider: row.name, vendor, model })?.max_output ?? null
}
