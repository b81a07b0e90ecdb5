import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { MemoryBudget } from '../../src/gateway/request/memory-budget.ts'
import { Deadlines } from '../../src/gateway/thread/deadlines.ts'
import { UpstreamCall } from '../../src/gateway/upstream/upstream-call.ts'
import { openFramer } from '../../src/lanes/framer.ts'
import { ChatReader } from '../../src/lanes/openai/chat-reader.ts'
import { attachCounters, createCounterMemory } from '../../src/policy/counters.ts'

const layout = { rows: 4, threads: 1 }

function open(seen: string[]): UpstreamCall {
  const call = new UpstreamCall({
    deadlines: new Deadlines(),
    limits: { connect: 1000, firstByte: 1000, betweenChunks: 1000, total: 1000 },
    totalAt: performance.now() + 1000,
    streamed: true,
    uploading: false,
    responseForm: 'json',
    mayBeEmpty: false,
    streamType: 'text/event-stream',
    reader: new ChatReader('sse', false),
    framer: openFramer('sse'),
    mustRead: false,
    budget: new MemoryBudget(attachCounters(createCounterMemory(layout), layout, 0), () => 1),
  })
  call.begin({ abort() {}, pause: () => void seen.push('pause'), resume: () => void seen.push('resume') })
  call.onConnected()
  call.onHead(200, ['content-type', 'text/event-stream'])
  return call
}

const content = 'data: {"choices":[{"delta":{"content":"a"}}]}\n\n'

it('a stream of countless events gives others their turn', async () => {
  const seen: string[] = []
  const call = open(seen)
  call.onData(Buffer.from(content.repeat(100)))
  expect(seen).toEqual([])
  call.onData(Buffer.from(':\n\n'.repeat(2000)))
  expect(seen).toEqual(['pause'])
  await nextTurn()
  expect(seen).toEqual(['pause', 'resume'])
  call.abort()
})

it('a stream that rests is not read while its client is waited for', async () => {
  const seen: string[] = []
  const call = open(seen)
  call.onData(Buffer.from(content + ':\n\n'.repeat(2000)))
  call.pause()
  await nextTurn()
  expect(seen).toEqual(['pause', 'pause'])
  call.resume()
  expect(seen).toEqual(['pause', 'pause', 'resume'])
  call.abort()
})

it('a chunk of countless events is read in several turns, in order, also where it ends meanwhile', async () => {
  const seen: string[] = []
  const call = open(seen)
  const passed: Buffer[] = []
  const attached = () =>
    call.attach({
      event: (event) => void passed.push(event.bytes),
      chunk: () => {},
      flush: () => {},
      ended: () => void seen.push('ended'),
      failed: () => void seen.push('failed'),
      stalled: () => {},
    })
  const sent = content + Array.from({ length: 9000 }, (_, at) => `: ${at}\n\n`).join('')
  call.onData(Buffer.from(sent))
  attached()
  expect(passed.length).toBeLessThan(2500)
  const before = passed.length
  await nextTurn()
  expect(passed.length).toBeGreaterThan(before)
  expect(passed.length).toBeLessThan(before + 2500)
  // What comes meanwhile waits for its turn.
  call.onData(Buffer.from('data: [DONE]\n\n'))
  call.onEnd()
  expect(Buffer.concat(passed).toString()).toBe(`${sent}data: [DONE]\n\n`)
  expect(seen.at(-1)).toBe('ended')
})
