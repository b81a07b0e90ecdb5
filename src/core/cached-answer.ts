/** What data-plane threads ask the store's thread about cached answers, over the port for object look-ups. */
export type CacheQuestion = { kind: 'cache-get'; id: number; key: string } | CachePut

/** Gets no answer: the sender does not wait. */
export interface CachePut {
  kind: 'cache-put'
  /** SHA-256 in hex of everything that makes two requests identical. */
  key: string
  routeId: string
  /** Epoch milliseconds. */
  expiresAt: number
  /** The body key that it is sealed with. */
  keyId: string
  sealed: Uint8Array
}

export interface CacheReply {
  kind: 'cached'
  id: number
  /** null: there is none. */
  found: Pick<CachePut, 'keyId' | 'sealed'> | null
}

/** Whether a message on that port is about cached answers. */
export function isCacheQuestion(message: { kind: string }): message is CacheQuestion {
  return message.kind === 'cache-get' || message.kind === 'cache-put'
}
