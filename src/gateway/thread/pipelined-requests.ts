import type { Socket } from 'node:net'

/** How many begin in one turn of the event loop: one chunk of a connection can contain thousands of heads. */
const mostPerTurn = 32

interface Held {
  socket: Socket
  resume: Socket['resume']
  /** How many requests of this connection wait. */
  waiting: number
}

/**
 * Requests queued behind others on their connection. Those that are too many for one turn begin in later turns. Until then their connection
 * is not read, so no client can make the queue long.
 */
export class PipelinedRequests {
  readonly #waiting: { held: Held; begin: () => void }[] = []
  readonly #held = new Map<Socket, Held>()
  #begun = 0

  /** Null: the request may begin now. */
  whenDue(socket: Socket): Promise<void> | null {
    if (this.#begun === 0) setImmediate(() => this.#nextTurn())
    if (this.#begun < mostPerTurn && this.#waiting.length === 0) {
      this.#begun++
      return null
    }
    const held = this.#held.get(socket) ?? pauseConnection(socket)
    this.#held.set(socket, held)
    held.waiting++
    return new Promise((begin) => this.#waiting.push({ held, begin }))
  }

  #nextTurn(): void {
    const due = this.#waiting.splice(0, mostPerTurn)
    this.#begun = due.length
    if (due.length > 0) setImmediate(() => this.#nextTurn())
    for (const { held, begin } of due) {
      begin()
      if (--held.waiting > 0) continue
      this.#held.delete(held.socket)
      held.socket.resume = held.resume
      held.socket.resume()
    }
  }
}

/** Node would resume reading after each answer. */
function pauseConnection(socket: Socket): Held {
  const held = { socket, resume: socket.resume, waiting: 0 }
  socket.pause()
  socket.resume = stayPaused
  return held
}

function stayPaused(this: Socket): Socket {
  return this
}
