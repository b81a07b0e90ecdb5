/** What happens when, in simulated milliseconds: a heap. */
export class Events {
  readonly #heap: { at: number; order: number; run(): void }[] = []
  #order = 0
  now = 0

  after(ms: number, run: () => void): void {
    const heap = this.#heap
    const event = { at: this.now + ms, order: this.#order++, run }
    let place = heap.push(event) - 1
    while (place > 0) {
      const above = (place - 1) >> 1
      if (!isBefore(event, heap[above])) break
      this.#swap(place, above)
      place = above
    }
  }

  run(until: number): void {
    for (let next = this.#heap[0]; next !== undefined && next.at <= until; next = this.#heap[0]) {
      this.#removeFirst()
      this.now = next.at
      next.run()
    }
    this.now = until
  }

  #removeFirst(): void {
    const heap = this.#heap
    const last = heap.pop()
    if (last === undefined || heap.length === 0) return
    heap[0] = last
    for (let place = 0; ; ) {
      const [left, right] = [place * 2 + 1, place * 2 + 2]
      const below = isBefore(heap[right], heap[left]) ? right : left
      if (!isBefore(heap[below], heap[place])) return
      this.#swap(place, below)
      place = below
    }
  }

  #swap(one: number, other: number): void {
    const [first, second] = [this.#heap[one], this.#heap[other]]
    if (first === undefined || second === undefined) return
    this.#heap[one] = second
    this.#heap[other] = first
  }
}

type Placed = { at: number; order: number } | undefined

function isBefore(one: Placed, other: Placed): boolean {
  if (one === undefined || other === undefined) return one !== undefined
  return one.at < other.at || (one.at === other.at && one.order < other.order)
}
