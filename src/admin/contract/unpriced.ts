import { valueAt } from './show-value.ts'

/** Whether a row of `requests stats` used tokens that nobody knows the price of: it looks as if they were free. */
export function isUnpriced(row: unknown): boolean {
  const count = (name: string) => Number(valueAt(row, name) ?? 0)
  return valueAt(row, 'usd') === null && count('input') + count('output') > 0
}
