import type { JsonObject } from '../core/json/json-value.ts'
import type { CacheMark } from './conversation.ts'
import type { Ledger } from './ledger.ts'
import { cacheMarkPath } from './setting-paths.ts'

const most = 4

/** Puts each mark on the block of its part. Anthropic accepts four: if there are more, the last ones stay. */
export class CacheMarks {
  readonly #ledger: Ledger
  /** In the order in which Anthropic reads a prompt: tools, system, messages. */
  readonly #placed: { block: Record<string, unknown>; path: string }[] = []

  constructor(ledger: Ledger) {
    this.#ledger = ledger
  }

  on(block: JsonObject, { cacheMark, path }: { cacheMark?: CacheMark; path: string }): JsonObject {
    if (cacheMark === undefined) return block
    const written = cacheMarkPath(this.#ledger.from, path)
    // Anthropic keeps nothing for twelve hours.
    if (cacheMark === '12h') this.#ledger.lose(written)
    const control = cacheMark === '5m' ? { type: 'ephemeral' } : { type: 'ephemeral', ttl: '1h' }
    const marked = { ...block, cache_control: control }
    this.#placed.push({ block: marked, path: written })
    return marked
  }

  lose({ cacheMark, path }: { cacheMark?: CacheMark; path: string }): void {
    if (cacheMark !== undefined) this.#ledger.lose(cacheMarkPath(this.#ledger.from, path))
  }

  /** Called when all blocks have been written. */
  finish(): void {
    for (const { block, path } of this.#placed.slice(0, -most)) {
      delete block.cache_control
      this.#ledger.lose(path)
    }
  }
}
