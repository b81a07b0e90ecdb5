import { EventEmitter } from 'node:events'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ClusterLink, type ClusterWorker } from '../../src/cluster/link.ts'
import type { ClusterMessage, ClusterRequest, LimitsStart } from '../../src/cluster/protocol.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A thread that hears nothing any more once it has ended, as a real one. */
class FakeThread extends EventEmitter implements ClusterWorker {
  readonly heard: ClusterRequest[] = []
  #hasEnded = false

  postMessage(message: ClusterRequest): void {
    if (!this.#hasEnded) this.heard.push(message)
  }

  say(message: ClusterMessage): void {
    this.emit('message', message)
  }

  end(error?: Error): void {
    this.#hasEnded = true
    if (error !== undefined) this.emit('error', error)
    this.emit('exit', 1)
  }

  /** Of its last question. */
  get asked(): number {
    return this.heard.findLast((message) => message.kind === 'ask')?.id ?? -1
  }
}

function open() {
  const threads: FakeThread[] = []
  const links: (string | null)[] = []
  const onThread = vi.fn()
  const start = () => {
    const thread = new FakeThread()
    threads.push(thread)
    return thread
  }
  const link = new ClusterLink(start, {
    onLink: (trouble) => links.push(trouble),
    onHead() {},
    onMembers() {},
    onRecall() {},
    onValkey() {},
    onThread,
  })
  const thread = () => {
    const last = threads.at(-1)
    if (last === undefined) throw new Error('no thread was started')
    return last
  }
  return { link, threads, thread, links, onThread }
}

describe('a question to the cluster thread', () => {
  it('has the answer that is for it, in whichever order they come', async () => {
    const { link, thread } = open()
    const one = link.ask('find', null)
    const first = thread().asked
    const other = link.ask('find', null)
    thread().say({ kind: 'answer', id: thread().asked, output: 'second' })
    thread().say({ kind: 'answer', id: first, output: 'first' })
    expect(await Promise.all([one, other])).toEqual(['first', 'second'])
  })

  it('is refused with what to do, where that is known', async () => {
    const { link, thread } = open()
    const asked = link.ask('find', null)
    const refused = {
      kind: 'failure',
      id: thread().asked,
      cause: 'refused',
      message: 'a schema',
      hint: 'Drop it.',
    } as const
    thread().say(refused)
    await expect(asked).rejects.toMatchObject({ name: 'StoreConflict', hint: 'Drop it.' })
  })

  it('that nobody waits for any more is stopped, and not asked where that is known', async () => {
    const { link, thread } = open()
    const stop = new AbortController()
    const asked = link.ask('read', { method: 'get', input: ['req_1'] }, stop.signal)
    const id = thread().asked
    stop.abort()
    expect(thread().heard.at(-1)).toEqual({ kind: 'stop', id })
    thread().say({ kind: 'failure', id, cause: 'refused', message: 'canceling statement' })
    await expect(asked).rejects.toMatchObject({ name: 'StoreConflict' })
    const later = link.ask('read', { method: 'get', input: ['req_1'] }, stop.signal)
    await expect(later).rejects.toMatchObject({ name: 'StoreStopped' })
    expect(thread().asked).toBe(id)
  })

  it('that PostgreSQL refuses is told from one that did not reach it', async () => {
    const { link, thread } = open()
    for (const [cause, name] of [
      ['away', 'StoreReadOnly'],
      ['unusable', 'StoreReadOnly'],
      ['refused', 'StoreConflict'],
    ] as const) {
      const asked = link.ask('find', null)
      thread().say({ kind: 'failure', id: thread().asked, cause, message: 'no' })
      await expect(asked).rejects.toMatchObject({ name, message: expect.stringContaining('no') })
    }
  })

  it('fails when the thread dies, with the reason', async () => {
    const { link, thread, links } = open()
    const asked = link.ask('find', null)
    thread().end(new Error('out of memory'))
    await expect(asked).rejects.toThrow('the cluster thread crashed: out of memory')
    expect(links).toEqual(['the cluster thread crashed: out of memory'])
  })

  it('fails at once while there is no thread, and is answered by the next', async () => {
    const { link, thread, threads } = open()
    thread().end(new Error('out of memory'))
    await expect(link.ask('find', null)).rejects.toMatchObject({
      name: 'StoreReadOnly',
      message: expect.stringContaining('out of memory'),
    })
    await vi.advanceTimersByTimeAsync(500)
    expect(threads).toHaveLength(2)
    const asked = link.ask('find', null)
    thread().say({ kind: 'answer', id: thread().asked, output: null })
    expect(await asked).toBeNull()
  })

  it('fails after the link was closed', async () => {
    const { link, thread } = open()
    const closed = link.close()
    thread().end()
    await closed
    await expect(link.ask('find', null)).rejects.toThrow('the cluster thread has ended')
  })

  it('is not answered by a thread that says too much', () => {
    const { thread } = open()
    expect(() => thread().say({ kind: 'answer', id: 99, output: null })).not.toThrow()
  })
})

describe('a thread that takes the place of another', () => {
  it('knows as whom it speaks, and that what the one before used is not known', async () => {
    const { link, thread, onThread } = open()
    const self = { cluster: 'clu_1', member: 'nod_1', incarnation: 'one' }
    link.be(self)
    link.shareLimits({ quiet: true } as LimitsStart)
    thread().end()
    await vi.advanceTimersByTimeAsync(500)
    expect(thread().heard).toEqual([
      { kind: 'self', self },
      { kind: 'limits', start: { quiet: false } },
    ])
    expect(onThread).toHaveBeenCalledTimes(1)
  })

  it('says why it has ended, and not why the one before had', async () => {
    const { thread, links } = open()
    thread().end(new Error('out of memory'))
    await vi.advanceTimersByTimeAsync(500)
    thread().end()
    expect(links.at(-1)).toBe('the cluster thread has ended')
  })

  it('does not come where the link is closed meanwhile', async () => {
    const { link, thread, threads } = open()
    thread().end()
    const closed = link.close()
    await vi.advanceTimersByTimeAsync(500)
    await closed
    expect(threads).toHaveLength(1)
  })
})
