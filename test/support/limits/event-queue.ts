/** A heap of what happens when. */
export class EventQueue {
  readonly #heap: { at: number; run: () => void }[] = []

  add(at: number, run: () => void): void {
    const heap = this.#heap
    heap.push({ at, run })
    let index = heap.length - 1
    while (index > 0) {
      const parent = (index - 1) >> 1
      if (timeAt(heap, parent) <= at) break
      swap(heap, index, parent)
      index = parent
    }
  }

  runUntil(end: number, onTime: (at: number) => void): void {
    for (;;) {
      const next = this.#pop()
      if (next === undefined || next.at > end) return
      onTime(next.at)
      next.run()
    }
  }

  #pop() {
    const heap = this.#heap
    const first = heap[0]
    const last = heap.pop()
    if (first === undefined || last === undefined || heap.length === 0) return first
    heap[0] = last
    for (let index = 0; ; ) {
      const [left, right] = [index * 2 + 1, index * 2 + 2]
      let least = index
      if (left < heap.length && timeAt(heap, left) < timeAt(heap, least)) least = left
      if (right < heap.length && timeAt(heap, right) < timeAt(heap, least)) least = right
      if (least === index) return first
      swap(heap, index, least)
      index = least
    }
  }
}

const timeAt = (heap: readonly { at: number }[], index: number) => heap[index]?.at ?? Number.POSITIVE_INFINITY

function swap<Item>(list: Item[], one: number, other: number): void {
  const [left, right] = [list[one], list[other]]
  if (left === undefined || right === undefined) return
  list[one] = right
  list[other] = left
}
