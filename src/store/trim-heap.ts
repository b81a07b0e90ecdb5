import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

interface Collection {
  type: 'major'
  execution: 'sync'
  flavor: 'last-resort'
}

/** Long enough after the start for the start to be over; short enough for nobody to have much to do yet. */
const startMs = 1000

/**
 * Gives back to the system what starting has left behind in this thread's heap, about 4 MB. V8 by itself would wait until
 * the heap has grown by as much again, which a thread with little to do never reaches. Stops the thread for some 15 ms,
 * so it is not for the data plane's.
 */
export function trimHeapAfterStart(): void {
  setTimeout(collect, startMs).unref()
}

function collect(): void {
  setFlagsFromString('--expose-gc')
  const gc: (collection: Collection) => void = runInNewContext('gc')
  // The flags are part of what V8 compares before it uses compiled code that it has kept: parts of Node loaded later on would be compiled anew.
  setFlagsFromString('--no-expose-gc')
  gc({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}
