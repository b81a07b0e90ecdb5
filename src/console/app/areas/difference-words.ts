import { withoutUnit } from '../../../admin/contract/show-value.ts'

/** `timeouts.total_ms` → `Timeouts, total`, `credentials[cre_01m7zj73].last_four` → `Credentials …7zj73, last four`. */
export function placeInWords(place: string): string {
  const words = place
    .replace(/\[[a-z]{3}_\w*(\w{5})\]/g, ' …$1')
    .replace(/\[([^\]]*)\]/g, ' $1')
    .split('.')
    .map((word) =>
      withoutUnit(word)
        .replaceAll('_', ' ')
        .replace(/\burl\b/g, 'URL')
        .replace(/\bid\b/g, 'ID'),
    )
    .join(', ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
