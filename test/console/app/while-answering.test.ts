import { expect, it } from 'vitest'
import { whileAnswering } from '../../../src/console/app/client/while-answering.ts'

const soon = { silentMs: 5, answerMs: 5 }
const never = () => new Promise<never>(() => {})

/** Brings its items, and is silent then until it is ended. */
async function* silentAfter(items: readonly string[], signal: AbortSignal): AsyncGenerator<string> {
  yield* items
  await new Promise((resolve) => signal.addEventListener('abort', resolve))
}

it('stays with a silent stream while the gateway answers, and ends it when that does not any more', async () => {
  let asked = 0
  let ended = false
  const open = async (signal: AbortSignal) => {
    signal.addEventListener('abort', () => (ended = true))
    return silentAfter(['one', 'two'], signal)
  }
  const items: string[] = []
  const follow = async () => {
    const ask = () => (++asked < 3 ? Promise.resolve() : never())
    for await (const item of whileAnswering(open, ask, new AbortController().signal, soon)) items.push(item)
  }
  await expect(follow()).rejects.toThrow('The gateway is not responding.')
  expect([items, asked, ended]).toEqual([['one', 'two'], 3, true])
})

it('does not wait for a stream that never opens', async () => {
  const stream = whileAnswering(never, never, new AbortController().signal, soon)
  await expect(stream.next()).rejects.toThrow('The gateway is not responding.')
})

it('fails as the stream does', async () => {
  async function* failing(): AsyncGenerator<string> {
    yield 'one'
    throw new Error('too slow')
  }
  const stream = whileAnswering(async () => failing(), never, new AbortController().signal, soon)
  expect((await stream.next()).value).toBe('one')
  await expect(stream.next()).rejects.toThrow('too slow')
})
