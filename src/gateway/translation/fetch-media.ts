import { type Fault, fault } from '../../core/errors.ts'
import { formatBytes } from '../../core/text/format-bytes.ts'
import { stallAwareTimeout } from '../../core/threads/stall-aware-timeout.ts'
import { refusePublicAddress } from '../../providers/address-guard.ts'
import type { EgressOptions, Transport } from '../../providers/contract.ts'
import type { MediaPart } from '../../translate/conversation.ts'
import { sniffType } from '../../translate/media-type.ts'
import { type MemoryBudget, outOfMemory } from '../request/memory-budget.ts'
import { findHeader } from '../upstream/headers.ts'

/** For all URLs of one request together. */
const mostBytes = 20_000_000
/** Each file is held in pieces, as a whole, and in base64. */
const heldTimes = 4
const noMemory = ''
const mostAddresses = 20
const timeoutMs = 10_000
const mostRedirects = 3

/** Clients choose these URLs: their names must not resolve to private addresses. A proxy would resolve them itself, so none is used. */
const egress: EgressOptions = { key: 'media', proxy: 'direct', authorities: null, identity: null, allowPrivate: false }

export interface FetchedMedia {
  type: string
  /** Base64. */
  data: string
}

/** Fetches the URLs. A fault names the part whose URL yielded nothing usable. */
export async function fetchMedia(
  transport: Transport,
  wanted: ReadonlyMap<string, MediaPart>,
  budget: Pick<MemoryBudget, 'reserve' | 'release'>,
): Promise<Map<string, FetchedMedia> | Fault> {
  const found = new Map<string, FetchedMedia>()
  const [first] = wanted.values()
  if (wanted.size > mostAddresses && first !== undefined)
    return refused(first, `the request names more than ${mostAddresses} addresses`)
  // Reserved only while the files arrive; afterwards only the base64 is held.
  const coming = { reserved: 0 }
  const fetch = new MediaFetch(transport, (bytes) => budget.reserve(coming, bytes))
  const timeout = stallAwareTimeout(timeoutMs, () => fetch.expire(`it took longer than ${timeoutMs / 1000} s`))
  try {
    for (const [url, part] of wanted) {
      const bytes = await fetch.get(url)
      if (typeof bytes === 'string') return bytes === noMemory ? outOfMemory() : refused(part, bytes)
      const data = bytes.toString('base64')
      const type = sniffType('', data)
      const fits = part.kind === 'image' ? type.startsWith('image/') : type === 'application/pdf'
      if (!fits) return refused(part, part.kind === 'image' ? 'it is not an image' : 'it is not a PDF')
      found.set(url, { type, data })
    }
    return found
  } finally {
    timeout.cancel()
    budget.release(coming)
  }
}

function refused({ path, kind }: MediaPart, why: string): Fault {
  const text = `The ${kind} at the address in ${path} could not be fetched for the provider: ${why}. Send its content as base64.`
  return fault('not_translatable', text, { param: path })
}

/** Fetches URLs one after another, within one limit of bytes and one of time. */
class MediaFetch {
  readonly #transport: Transport
  readonly #reserve: (bytes: number) => boolean
  #left = mostBytes
  readonly #expired = Promise.withResolvers<string>()

  constructor(transport: Transport, reserve: (bytes: number) => boolean) {
    this.#transport = transport
    this.#reserve = reserve
  }

  expire(why: string): void {
    this.#expired.resolve(why)
  }

  /** A string says why not, as half a sentence. */
  async get(address: string): Promise<Buffer | string> {
    let next = address
    for (let hops = 0; hops <= mostRedirects; hops++) {
      const url = URL.parse(next)
      const reason = url === null ? 'it is not an address' : refusePublicAddress(url)
      if (url === null || reason !== null) return reason ?? 'it is not an address'
      const answer = await this.#ask(url)
      if (typeof answer === 'string' || Buffer.isBuffer(answer)) return answer
      next = URL.parse(answer.location, url)?.href ?? ''
    }
    return 'it leads on too often'
  }

  async #ask(url: URL): Promise<Buffer | string | { location: string }> {
    const { promise, resolve } = Promise.withResolvers<Buffer | string | { location: string }>()
    const chunks: Buffer[] = []
    const headers: [string, string][] = [
      ['accept', 'image/*, application/pdf'],
      ['user-agent', 'spgw'],
    ]
    const request = {
      method: 'GET',
      origin: url.origin,
      path: url.pathname + url.search,
      headers: headers.flat(),
      body: null,
    }
    const sending = this.#transport.send(
      { ...request, connectMs: timeoutMs, egress },
      {
        onConnected() {},
        onHead: (status, raw) => {
          const location = findHeader(raw, 'location')
          if (status >= 300 && status < 400 && location !== null) resolve({ location })
          else if (status !== 200) resolve(`the server answered ${status}`)
          else if (findHeader(raw, 'content-encoding') !== null) resolve('the server sent it compressed')
        },
        onData: (chunk) => {
          this.#left -= chunk.length
          if (this.#left < 0) return resolve(`it is larger than ${formatBytes(mostBytes)}`)
          if (this.#reserve((mostBytes - this.#left) * heldTimes)) chunks.push(chunk)
          else resolve(noMemory)
        },
        onEnd: () => resolve(Buffer.concat(chunks)),
        onError: ({ message }) => resolve(message.replace(/\.$/, '')),
      },
    )
    const result = await Promise.race([promise, this.#expired.promise])
    sending.abort()
    return result
  }
}
