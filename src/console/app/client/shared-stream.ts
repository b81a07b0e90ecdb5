import { faultOf } from './fault.ts'
import { follow, type LiveStream } from './follow.ts'

/**
 * One connection for what several windows of a browser listen to: whoever has the lock holds it, and tells the others.
 * A browser opens six connections to a host over HTTP/1.1, for all of its windows together.
 */
export async function shareStream<Item>(stream: LiveStream<Item>, signal: AbortSignal): Promise<void> {
  const channel = new Channel(stream, signal)
  await hold(stream.name, { signal }, async () => {
    const told = channel.begin()
    if (stream.kind === 'events') return await inSlot(told, signal)
    // Somebody else had it until now.
    if (channel.heard) told.returned()
    await follow(told, signal)
  }).catch(() => {
    // Left before it was one's turn.
  })
}

type Message<Item> =
  | { kind: 'item'; item: Item }
  | { kind: 'lost'; message: string }
  /** Something may have been missed. */
  | { kind: 'gap' }
  /** Somebody new listens, who knows nothing yet. */
  | { kind: 'hello' }

/** To the other windows, and from the one that holds the connection. */
class Channel<Item> {
  heard = false
  readonly #stream: LiveStream<Item>
  readonly #channel: BroadcastChannel
  #holds = false
  #last: Message<Item> | null = null

  constructor(stream: LiveStream<Item>, signal: AbortSignal) {
    this.#stream = stream
    this.#channel = new BroadcastChannel(`spgw ${stream.name}`)
    this.#channel.onmessage = ({ data }: MessageEvent<Message<Item>>) => this.#take(data)
    signal.addEventListener('abort', () => this.#channel.close())
    this.#channel.postMessage({ kind: 'hello' })
  }

  /** From now on this window holds the connection: what it hears goes to all. */
  begin(): LiveStream<Item> {
    this.#holds = true
    const { open, hear, lose, returned, ...rest } = this.#stream
    return {
      ...rest,
      open,
      hear: (item) => {
        this.#tell({ kind: 'item', item })
        hear(item)
      },
      lose: (error) => {
        this.#tell({ kind: 'lost', message: faultOf(error).message })
        return lose?.(error) ?? true
      },
      returned: () => {
        this.#tell({ kind: 'gap' })
        returned()
      },
    }
  }

  #take(message: Message<Item>): void {
    if (message.kind === 'hello') {
      // One who listens to events has read the past by himself, but not what came between.
      const known = this.#stream.kind === 'state' ? this.#last : ({ kind: 'gap' } as const)
      if (this.#holds && known !== null) this.#channel.postMessage(known)
      return
    }
    this.heard = true
    if (message.kind === 'item') this.#stream.hear(message.item)
    else if (message.kind === 'gap') this.#stream.returned()
    else this.#stream.lose?.(new Error(message.message))
  }

  #tell(message: Message<Item>): void {
    if (message.kind !== 'gap') this.#last = message
    this.#channel.postMessage(message)
  }
}

/** Of six connections, one is for how the gateway is, and two are left for calls. */
const slots = [0, 1, 2]
const rereadMs = 5000

/** Where all are taken, one reads anew until there is one. */
async function inSlot<Item>(stream: LiveStream<Item>, signal: AbortSignal): Promise<void> {
  for (const slot of slots) {
    const had = await hold(`connection ${slot}`, { ifAvailable: true }, async (lock) => {
      if (lock !== null) await follow(stream, signal)
      return lock !== null
    })
    if (had) return
  }
  const timer = setInterval(() => stream.returned(), rereadMs)
  try {
    await hold(`connection ${stream.name.length % slots.length}`, { signal }, async () => {
      clearInterval(timer)
      await follow(stream, signal)
    })
  } finally {
    clearInterval(timer)
  }
}

function hold<Result>(
  name: string,
  options: LockOptions,
  use: (lock: Lock | null) => Promise<Result>,
): Promise<Result> {
  return navigator.locks.request(`spgw ${name}`, options, use)
}
