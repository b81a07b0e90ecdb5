/** What data-plane threads ask the store's thread about cached answers, over the port of the look-ups of objects. */
export type CacheQuestion = { kind: 'cache-get'; id: number; key: string } | CachePut

/** Not answered: whoever sends it does not wait. */
export interface CachePut {
  kind: 'cache-put'
  /** SHA-256 in hex of all that makes two requests the same. */
  key: string
  routeId: string
  /** Epoch milliseconds. */
  expiresAt: number
  /** Of the body key that it is sealed with. */
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
