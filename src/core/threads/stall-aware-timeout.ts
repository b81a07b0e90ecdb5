/** No piece of waiting counts for more than this, however long it took. */
const pieceMs = 100

/**
 * Acts when this process has run for so long, unless it is cancelled before. Time in which it was not run (a container that is
 * held, a machine that sleeps or has others to serve) counts for at most one piece: whoever is waited for was most likely held
 * as well, and of what came meanwhile nothing has been read. Behind the reading, since what is here already is not late.
 */
export function stallAwareTimeout(milliseconds: number, act: () => void): { cancel(): void } {
  let left = milliseconds
  let over = false
  const step = () => {
    left -= pieceMs
    if (left > 0) timer = setTimeout(step, Math.min(left, pieceMs))
    else setImmediate(() => over || act())
  }
  let timer = setTimeout(step, Math.min(left, pieceMs))
  return {
    cancel() {
      over = true
      clearTimeout(timer)
    },
  }
}
