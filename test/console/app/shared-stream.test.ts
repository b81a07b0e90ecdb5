import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { StreamOptions } from '../../../src/console/app/client/follow-stream.ts'

/** The browser's types are not those of Node, with which tests are compiled. */
interface Streams {
  shareStream(stream: StreamOptions<string>, signal: AbortSignal): Promise<void>
  followWhileVisible(stream: StreamOptions<string>): () => void
}
const client = '../../../src/console/app/client'
const { shareStream }: Streams = await import(`${client}/shared-stream.ts`)
const { followWhileVisible }: Streams = await import(`${client}/visible-stream.ts`)

/** What was noted, and what waits for it. */
class Notes {
  readonly all: string[] = []
  #waiting: (() => void)[] = []

  add(note: string): void {
    this.all.push(note)
    for (const wake of this.#waiting.splice(0)) wake()
  }

  async until(note: string, times = 1): Promise<void> {
    while (this.all.filter((each) => each === note).length < times)
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }
}

/** A connection to the gateway, as the test speaks on it. */
class Connection {
  #wake = Promise.withResolvers<void>()
  #items: string[] = []
  #broken: Error | null = null

  say(item: string): void {
    this.#items.push(item)
    this.#wake.resolve()
  }

  breakOff(message: string): void {
    this.#broken = new Error(message)
    this.#wake.resolve()
  }

  async *read(signal: AbortSignal): AsyncGenerator<string> {
    signal.addEventListener('abort', () => this.#wake.resolve())
    for (;;) {
      await this.#wake.promise
      this.#wake = Promise.withResolvers()
      yield* this.#items.splice(0)
      if (signal.aborted) return
      if (this.#broken !== null) throw this.#broken
    }
  }
}

let notes: Notes
let connections: Connection[]
let closers: (() => void)[]
/** Locks and channels are the whole process's. */
let round = 0

beforeEach(() => {
  notes = new Notes()
  connections = []
  closers = []
  round++
})
afterEach(() => {
  for (const close of closers) close()
  vi.unstubAllGlobals()
})

/** One window of the browser. */
function streamOf(window: string, kind: 'state' | 'events', name = 'watch'): StreamOptions<string> {
  return {
    ...{ name: `${name} ${round}`, kind, retryMs: 1 },
    open(signal) {
      const connection = new Connection()
      connections.push(connection)
      notes.add(`${window} opens`)
      return connection.read(signal)
    },
    onItem: (item) => notes.add(`${window} hears ${item}`),
    onLost(error) {
      notes.add(`${window} lost: ${error instanceof Error ? error.message : error}`)
      return true
    },
    onGap: () => notes.add(`${window} gap`),
  }
}

function openWindow(window: string, kind: 'state' | 'events', name?: string): () => void {
  const leave = new AbortController()
  void shareStream(streamOf(window, kind, name), leave.signal)
  const close = () => leave.abort()
  closers.push(close)
  return close
}

describe('what several windows listen to', () => {
  it('comes over one connection to all of them', async () => {
    openWindow('a', 'state')
    await notes.until('a opens')
    openWindow('b', 'state')
    connections[0]?.say('one')
    await Promise.all([notes.until('a hears one'), notes.until('b hears one')])
    expect(notes.all).not.toContain('b opens')
  })

  it('is known at once to a window that comes later, where it is a state', async () => {
    openWindow('a', 'state')
    await notes.until('a opens')
    connections[0]?.say('one')
    await notes.until('a hears one')
    openWindow('b', 'state')
    await notes.until('b hears one')
    expect(notes.all.filter((each) => each === 'a hears one')).toHaveLength(1)
  })

  it('is read again by a window that comes later, where it is events', async () => {
    openWindow('a', 'events')
    await notes.until('a gap')
    connections[0]?.say('one')
    await notes.until('a hears one')
    openWindow('b', 'events')
    await notes.until('b gap')
    expect(notes.all).not.toContain('b hears one')
  })

  it('goes on in another window when the one that held it is closed, and what came between is read', async () => {
    const close = openWindow('a', 'state')
    await notes.until('a opens')
    openWindow('b', 'state')
    connections[0]?.say('one')
    await notes.until('b hears one')
    close()
    await notes.until('b opens')
    expect(notes.all).toContain('b gap')
    connections[1]?.say('two')
    await notes.until('b hears two')
    expect(notes.all).not.toContain('a hears two')
  })

  it('is lost for all at once, with the reason, and comes back for all', async () => {
    openWindow('a', 'state')
    await notes.until('a opens')
    openWindow('b', 'state')
    connections[0]?.say('one')
    await notes.until('b hears one')
    connections[0]?.breakOff('the gateway stops')
    await Promise.all([notes.until('a lost: the gateway stops'), notes.until('b lost: the gateway stops')])
    await notes.until('a opens', 2)
    connections[1]?.say('two')
    await Promise.all([notes.until('a hears two'), notes.until('b hears two')])
    expect(notes.all).toEqual(expect.arrayContaining(['a gap', 'b gap']))
  })

  it('of another name is another connection', async () => {
    openWindow('a', 'state', 'watch')
    openWindow('b', 'state', 'other')
    await Promise.all([notes.until('a opens'), notes.until('b opens')])
  })
})

it('leaves connections to calls: of more streams of events one is read at intervals until there is room', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  try {
    const closes = ['a', 'b', 'c', 'd'].map((window, at) => openWindow(window, 'events', `tail ${'x'.repeat(at)}`))
    await Promise.all(['a', 'b', 'c'].map((window) => notes.until(`${window} opens`)))
    // The fourth has seen that no slot is free once it has set its timer.
    await vi.waitFor(() => expect(vi.getTimerCount()).toBe(1))
    vi.advanceTimersByTime(10_000)
    expect(notes.all.filter((each) => each === 'd gap')).toHaveLength(2)
    expect(notes.all).not.toContain('d opens')
    for (const close of closes.slice(0, 3)) close()
    await notes.until('d opens')
    expect(vi.getTimerCount()).toBe(0)
  } finally {
    vi.useRealTimers()
  }
})

describe('a page that is hidden', () => {
  let page: EventTarget & { hidden: boolean }
  let browser: EventTarget

  beforeEach(() => {
    page = Object.assign(new EventTarget(), { hidden: false })
    browser = new EventTarget()
    vi.stubGlobal('document', page)
    vi.stubGlobal('addEventListener', browser.addEventListener.bind(browser))
    vi.stubGlobal('removeEventListener', browser.removeEventListener.bind(browser))
  })

  function hide(hidden: boolean): void {
    page.hidden = hidden
    page.dispatchEvent(new Event('visibilitychange'))
  }

  it('holds no connection, and reads what it missed when it is seen again', async () => {
    closers.push(followWhileVisible(streamOf('a', 'state')))
    await notes.until('a opens')
    hide(true)
    connections[0]?.say('unseen')
    hide(false)
    hide(false)
    await notes.until('a opens', 2)
    connections[1]?.say('two')
    await notes.until('a hears two')
    expect(notes.all).toEqual(['a opens', 'a gap', 'a opens', 'a hears two'])
  })

  it('from its beginning opens nothing until it is seen, and has missed nothing', async () => {
    page.hidden = true
    closers.push(followWhileVisible(streamOf('a', 'state')))
    expect(connections).toEqual([])
    hide(false)
    await notes.until('a opens')
    expect(notes.all).toEqual(['a opens'])
  })

  it('and is kept for the way back opens again when one comes back', async () => {
    closers.push(followWhileVisible(streamOf('a', 'state')))
    await notes.until('a opens')
    browser.dispatchEvent(new Event('pagehide'))
    browser.dispatchEvent(new Event('pageshow'))
    await notes.until('a opens', 2)
  })

  it('opens nothing any more once it was left', async () => {
    const leave = followWhileVisible(streamOf('a', 'state'))
    await notes.until('a opens')
    leave()
    hide(true)
    hide(false)
    browser.dispatchEvent(new Event('pageshow'))
    openWindow('b', 'state')
    await notes.until('b opens')
    expect(notes.all.filter((each) => each === 'a opens')).toHaveLength(1)
  })
})
