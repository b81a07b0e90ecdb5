/** How long sliced work may run before other work gets its turn. */
const sliceMs = 20

const waiting: (() => void)[] = []

/**
 * Resolves in a later turn of the event loop. Only one waiter continues per turn, so that slices never add up to a long
 * turn.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve)
    if (waiting.length === 1) setImmediate(release)
  })
}

function release(): void {
  const [next] = waiting
  next?.()
  waiting.shift()
  if (waiting.length > 0) setImmediate(release)
}

/** Acts on each item, and lets other work have its turn in between. */
export async function inSlices<Item>(items: Iterable<Item>, act: (item: Item) => void | Promise<void>): Promise<void> {
  let began = performance.now()
  for (const item of items) {
    const acting = act(item)
    if (acting instanceof Promise) await acting
    if (performance.now() - began < sliceMs) continue
    await nextTurn()
    began = performance.now()
  }
}

export async function mapInSlices<Item, Result>(items: Iterable<Item>, act: (item: Item) => Result): Promise<Result[]> {
  const results: Result[] = []
  await inSlices(items, (item) => void results.push(act(item)))
  return results
}
