/** A stream may be silent for so long before the gateway is asked whether it is there, which may take so long. */
const usual = { silentMs: 10_000, answerMs: 5000 }

/**
 * What a stream brings, for as long as the gateway answers: a connection that leads nowhere any more (a laptop that slept,
 * a gateway that hangs) ends by itself only after minutes.
 */
export async function* whileAnswering<Item>(
  open: (signal: AbortSignal) => Promise<AsyncIterable<Item>>,
  ask: (signal: AbortSignal) => Promise<unknown>,
  signal: AbortSignal,
  { silentMs, answerMs } = usual,
): AsyncGenerator<Item> {
  const attempt = new AbortController()
  const ends = AbortSignal.any([signal, attempt.signal])
  try {
    const items = (await within(silentMs, open(ends)))[Symbol.asyncIterator]()
    let next = items.next()
    while (true) {
      const result = await within(silentMs, next).catch((error: unknown) => {
        if (error instanceof NotAnswering) return null
        throw error
      })
      if (result === null) await within(answerMs, ask(ends))
      else if (result.done === true) return
      else {
        yield result.value
        next = items.next()
      }
    }
  } finally {
    attempt.abort()
  }
}

class NotAnswering extends Error {
  override readonly name = 'NotAnswering'
}

async function within<Value>(milliseconds: number, value: Promise<Value>): Promise<Value> {
  const over = Promise.withResolvers<never>()
  const timer = setTimeout(() => over.reject(new NotAnswering('The gateway is not responding.')), milliseconds)
  try {
    return await Promise.race([value, over.promise])
  } finally {
    clearTimeout(timer)
  }
}
