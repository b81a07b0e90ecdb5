const line = /^\[(\d+):0x([0-9a-f]+)\].*?ms: (.*?) [\d.]+ \([\d.]+\) -> ([\d.]+) \(/

interface Heap {
  isolate: bigint
  collections: number
  /** What the last full collection left; NaN before the first. */
  bytes: number
}

/**
 * Reads what V8 prints of its collections (`--trace-gc`). Its heaps have no names there: the main thread's lies lowest in memory,
 * and of the others the data plane's collects most often.
 */
export class HeapWatch {
  #process = ''
  #heaps: Heap[] = []

  read(text: string): void {
    const [, process = '', address = '0', kind = '', megabytes] = line.exec(text) ?? []
    if (megabytes === undefined) return
    // Of a gateway that was started before, to set things up.
    if (process !== this.#process) this.#heaps = []
    this.#process = process
    const isolate = BigInt(`0x${address}`)
    const heap = this.#heaps.find((each) => each.isolate === isolate) ?? { isolate, collections: 0, bytes: Number.NaN }
    if (!this.#heaps.includes(heap)) this.#heaps.push(heap)
    heap.collections++
    if (kind.includes('Mark-Compact')) heap.bytes = Number(megabytes) * 1e6
  }

  get dataPlaneBytes(): number {
    return this.#others()[0]?.bytes ?? Number.NaN
  }

  get storeBytes(): number {
    return this.#others()[1]?.bytes ?? Number.NaN
  }

  #others(): Heap[] {
    const [, ...others] = this.#heaps.toSorted((a, b) => (a.isolate < b.isolate ? -1 : 1))
    return others.sort((a, b) => b.collections - a.collections)
  }
}
