import { withoutUnit } from '../../../admin/contract/show-value.ts'

/** `timeouts.total_ms` → `Timeouts, total`. */
export function placeInWords(place: string): string {
  const words = place
    .split('.')
    .map((word) => withoutUnit(word).replaceAll('_', ' '))
    .join(', ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
