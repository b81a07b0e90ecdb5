import type { SentCall, SentPiece } from '../../admin/handlers/context.ts'
import { mintSecret } from '../../admin/handlers/keys/mint-secret.ts'
import type { ResponseSink, Sending, Transport } from '../../providers/contract.ts'
import type { Key } from '../../store/api.ts'
import type { SnapshotKey } from '../../store/configuration/snapshot.ts'
import type { Publisher } from '../threads/publisher.ts'
import type { OwnAddress } from './try-route.ts'

/** How long the second secret is accepted; a stream that has begun goes on. */
const admissionMs = 60_000

/**
 * One request through the data plane as a key of the operator's choice, its answer as it comes. Keys are stored hashed,
 * so the key gets a second secret, which lives in memory until the call is over and is known to nobody.
 */
export async function* sendCall(
  publisher: Publisher,
  { origin, certificate }: OwnAddress,
  call: SentCall,
  signal: AbortSignal,
): AsyncGenerator<SentPiece> {
  const { createHttpTransport } = await import('../../providers/http.ts')
  const { key, secret } = mintSecret()
  const transport = createHttpTransport({ oneself: true, ...(certificate === null ? {} : { trusted: certificate }) })
  const lease = await publisher.lease(withSecret(call, secret))
  try {
    const more = Object.entries({ 'content-type': 'application/json', ...call.headers }).flat()
    const headers = ['authorization', `Bearer ${key}`, 'user-agent', call.agent, ...more]
    const request = { method: 'POST', origin, path: call.path, headers, body: Buffer.from(call.body), connectMs: 5000 }
    yield* receive(transport, request, signal)
  } finally {
    await lease.release()
    await transport.close()
  }
}

function withSecret({ key, onlyProviderId }: SentCall, secret: Key['secrets'][number]): SnapshotKey {
  const ends = Date.now() + admissionMs
  return {
    ...key,
    ...secret,
    expiresAt: key.expiresAt === null ? ends : Math.min(ends, key.expiresAt),
    ...(onlyProviderId === undefined ? {} : { onlyProviderId }),
  }
}

/** Ends when the answer does, when the signal fires (the call is cut then), or throws with what the network said. */
async function* receive(
  transport: Transport,
  request: Parameters<Transport['send']>[0],
  signal: AbortSignal,
): AsyncGenerator<SentPiece> {
  const inbox = new Inbox()
  const sending = transport.send(request, inbox)
  inbox.follow(sending)
  const stop = () => inbox.end()
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  try {
    yield* inbox.pieces()
  } finally {
    signal.removeEventListener('abort', stop)
    sending.abort()
  }
}

/** More than this waits for the reader, and the sender is held. */
const fullPieces = 256

/** Turns what the transport calls into what a reader awaits. */
class Inbox implements ResponseSink {
  #pieces: SentPiece[] = []
  #over = false
  #fault: Error | null = null
  #wake: (() => void) | null = null
  #sending: Sending | null = null

  follow(sending: Sending): void {
    this.#sending = sending
  }

  onConnected(): void {}

  onHead(status: number, list: string[]): void {
    const headers: Record<string, string> = {}
    for (let index = 0; index + 1 < list.length; index += 2) headers[list[index] ?? ''] = list[index + 1] ?? ''
    this.#add({ kind: 'head', status, headers })
  }

  onData(bytes: Buffer): void {
    this.#add({ kind: 'data', bytes })
    if (this.#pieces.length > fullPieces) this.#sending?.pause()
  }

  onEnd(): void {
    this.end()
  }

  onError(fault: { message: string }): void {
    this.#fault = new Error(fault.message)
    this.end()
  }

  end(): void {
    this.#over = true
    this.#wake?.()
  }

  async *pieces(): AsyncGenerator<SentPiece> {
    for (;;) {
      const ready = this.#pieces
      this.#pieces = []
      this.#sending?.resume()
      yield* ready
      if (this.#pieces.length > 0) continue
      if (this.#over) break
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    if (this.#fault !== null) throw this.#fault
  }

  #add(piece: SentPiece): void {
    this.#pieces.push(piece)
    this.#wake?.()
  }
}
