import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto'

/** Loaded with the first call that is signed. */
export { SignatureV4 } from '@smithy/signature-v4'

/** In the form that the signer asks for. The vendor's own is 7 KB in every thread, and slower. */
export class Sha256 {
  readonly #secret: string | Uint8Array | null
  #hash: Hash | Hmac

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#secret = secret === undefined || typeof secret === 'string' ? (secret ?? null) : bytesOf(secret)
    this.#hash = this.#start()
  }

  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.#hash.update(typeof data === 'string' ? data : bytesOf(data))
  }

  digest(): Promise<Uint8Array> {
    return Promise.resolve(this.#hash.digest())
  }

  reset(): void {
    this.#hash = this.#start()
  }

  #start(): Hash | Hmac {
    return this.#secret === null ? createHash('sha256') : createHmac('sha256', this.#secret)
  }
}

function bytesOf(data: ArrayBuffer | ArrayBufferView): Uint8Array {
  return ArrayBuffer.isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength) : new Uint8Array(data)
}
