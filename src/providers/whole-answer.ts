import type { OutboundRequest, Sending, Transport, TransportFault } from './contract.ts'

export interface WholeLimits {
  bytes: number
  milliseconds: number
}

export type WholeAnswer =
  | { outcome: 'answered'; status: number; headers: ReadonlyMap<string, string>; body: Buffer }
  | { outcome: 'failed'; fault: TransportFault }
  | { outcome: 'too-large' }
  | { outcome: 'too-slow' }

/** One call gathered into memory, for the control plane's small requests. Resolves always; the call is over when it does. */
export function fetchWhole(transport: Transport, request: OutboundRequest, limits: WholeLimits): Promise<WholeAnswer> {
  return new Promise((resolve) => {
    let status = 0
    let size = 0
    const headers = new Map<string, string>()
    const chunks: Buffer[] = []
    let sending: Sending | null = null
    function finish(answer: WholeAnswer): void {
      clearTimeout(timer)
      sending?.abort()
      resolve(answer)
    }
    const timer = setTimeout(finish, limits.milliseconds, { outcome: 'too-slow' })
    sending = transport.send(request, {
      onConnected() {},
      onHead(received, list) {
        status = received
        for (let index = 0; index + 1 < list.length; index += 2) headers.set(list[index] ?? '', list[index + 1] ?? '')
      },
      onData(chunk) {
        size += chunk.length
        if (size > limits.bytes) finish({ outcome: 'too-large' })
        else chunks.push(chunk)
      },
      onEnd: () => finish({ outcome: 'answered', status, headers, body: Buffer.concat(chunks) }),
      onError: (fault) => finish({ outcome: 'failed', fault }),
    })
  })
}
