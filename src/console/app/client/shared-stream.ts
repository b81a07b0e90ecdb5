import { faultOf } from './fault.ts'
import { followStream, type StreamOptions } from './follow-stream.ts'

/**
 * One connection for what several windows of a browser listen to: whoever has the lock holds it, and tells the others.
 * A browser opens six connections to a host over HTTP/1.1, for all of its windows together.
 */
export async function shareStream<Item>(stream: StreamOptions<Item>, signal: AbortSignal): Promise<void> {
  const channel = new Channel(stream, signal)
  await hold(stream.name, { signal }, async () => {
    const stream = channel.lead()
    if (stream.kind === 'events') return await inSlot(stream, signal)
    // Somebody else had it until now.
    if (channel.received) stream.onGap()
    await followStream(stream, signal)
  }).catch(() => {
    // Aborted before this window got the lock.
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
  received = false
  readonly #stream: StreamOptions<Item>
  readonly #channel: BroadcastChannel
  #holds = false
  #last: Message<Item> | null = null

  constructor(stream: StreamOptions<Item>, signal: AbortSignal) {
    this.#stream = stream
    this.#channel = new BroadcastChannel(`spgw ${stream.name}`)
    this.#channel.onmessage = ({ data }: MessageEvent<Message<Item>>) => this.#take(data)
    signal.addEventListener('abort', () => this.#channel.close())
    this.#channel.postMessage({ kind: 'hello' })
  }

  /** From now on this window holds the connection: what it hears goes to all. */
  lead(): StreamOptions<Item> {
    this.#holds = true
    const { open, onItem, onLost, onGap, ...rest } = this.#stream
    return {
      ...rest,
      open,
      onItem: (item) => {
        this.#post({ kind: 'item', item })
        onItem(item)
      },
      onLost: (error) => {
        this.#post({ kind: 'lost', message: faultOf(error).message })
        return onLost?.(error) ?? true
      },
      onGap: () => {
        this.#post({ kind: 'gap' })
        onGap()
      },
    }
  }

  #take(message: Message<Item>): void {
    if (message.kind === 'hello') {
      // A new listener has read the past, but may have missed events since.
      const known = this.#stream.kind === 'state' ? this.#last : ({ kind: 'gap' } as const)
      if (this.#holds && known !== null) this.#channel.postMessage(known)
      return
    }
    this.received = true
    if (message.kind === 'item') this.#stream.onItem(message.item)
    else if (message.kind === 'gap') this.#stream.onGap()
    else this.#stream.onLost?.(new Error(message.message))
  }

  #post(message: Message<Item>): void {
    if (message.kind !== 'gap') this.#last = message
    this.#channel.postMessage(message)
  }
}

/** Of six connections, one is for how the gateway is, and two are left for calls. */
const slots = [0, 1, 2]
const rereadMs = 5000

/** If all slots are taken, the data is reread at intervals until one is free. */
async function inSlot<Item>(stream: StreamOptions<Item>, signal: AbortSignal): Promise<void> {
  for (const slot of slots) {
    const had = await hold(`connection ${slot}`, { ifAvailable: true }, async (lock) => {
      if (lock !== null) await followStream(stream, signal)
      return lock !== null
    })
    if (had) return
  }
  const timer = setInterval(() => stream.onGap(), rereadMs)
  try {
    await hold(`connection ${stream.name.length % slots.length}`, { signal }, async () => {
      clearInterval(timer)
      await followStream(stream, signal)
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
