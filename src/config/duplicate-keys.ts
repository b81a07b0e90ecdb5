import { type Document, isScalar, type Pair, visit } from 'yaml'

/**
 * Where a mapping names a key for the second time, as offsets. The library's own check compares each key with all others
 * of its mapping: 16,000 lines of a hostile file kept a thread for 11 s.
 */
export function findDuplicateKeys(document: Document): number[] {
  const found: number[] = []
  visit(document, {
    Map(_key, map) {
      const seen = new Set<unknown>()
      for (const { key } of map.items as Pair[]) {
        if (!isScalar(key)) continue
        if (seen.has(key.value)) found.push(key.range?.[0] ?? 0)
        seen.add(key.value)
      }
    },
  })
  return found.sort((a, b) => a - b)
}
