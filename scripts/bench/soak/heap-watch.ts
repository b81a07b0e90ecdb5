const line = /^\[\d+:(0x[0-9a-f]+)\].*?ms: (.*?) [\d.]+ \([\d.]+\) -> ([\d.]+) \(/

/**
 * Reads what V8 prints of its collections (`--trace-gc`). Its heaps have no names there: they are told by the order in which the
 * threads begin, which is the control plane, the store, the data plane.
 */
export class HeapWatch {
  readonly #heaps: { isolate: string; bytes: number }[] = []

  read(text: string): void {
    const [, isolate = '', kind = '', megabytes] = line.exec(text) ?? []
    if (megabytes === undefined) return
    const heap = this.#heaps.find((each) => each.isolate === isolate) ?? { isolate, bytes: Number.NaN }
    if (!this.#heaps.includes(heap)) this.#heaps.push(heap)
    if (kind.includes('Mark-Compact')) heap.bytes = Number(megabytes) * 1e6
  }

  /** What the last full collection left; NaN where there was none. */
  bytes(thread: number): number {
    return this.#heaps[thread]?.bytes ?? Number.NaN
  }
}
