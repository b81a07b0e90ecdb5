import { Worker } from 'node:worker_threads'
import { describe, expect, it } from 'vitest'
import { ManifestReader } from '../../src/daemon/manifest-reader.ts'

const request = (text: string) => ({ documents: [{ name: 'a.yaml', text }], variables: { KEY: 'sk-canary' } })
const endless = () => new Worker('for (;;) ;', { eval: true })

describe('reading configuration files in a thread of its own', () => {
  it('gives what they say, with secrets as secrets', async () => {
    const text = `providers: [{ name: p, kind: openai, credential: "\${KEY}" }]\nroutes: [{ model: 1 }, 7]\n`
    const { owner, entries, problems } = await new ManifestReader().read(request(text))
    expect(owner).toBe('file')
    expect(entries.map(({ kind, name }) => `${kind} ${name}`)).toEqual(['provider p', 'route 1'])
    expect(String(entries[0]?.credentials?.[0])).toBe('***')
    expect(entries[0]?.credentials?.[0]?.reveal()).toBe('sk-canary')
    expect(problems).toEqual([
      { place: 'a.yaml:2:24', message: 'expected a route, like model: … and its fields below' },
    ])
  })

  it('ends for files that take too long, and then reads the next', async () => {
    let calls = 0
    const start = () => {
      calls++
      return endless()
    }
    const reader = new ManifestReader(start, 50)
    const late = [{ place: 'a.yaml', message: 'the files take too long to read; apply them in parts' }]
    const [first, second] = await Promise.all([reader.read(request('')), reader.read(request(''))])
    expect([first.problems, second.problems, calls]).toEqual([late, late, 2])
  })

  it('tells of files that take too much memory', async () => {
    // In large pieces: a heap that fills up in small ones is searched for garbage again and again before it is full.
    const greedy = () =>
      new Worker('const all = []; for (;;) all.push(new Array(1_000_000).fill(all.length))', {
        eval: true,
        resourceLimits: { maxOldGenerationSizeMb: 8 },
      })
    const { problems } = await new ManifestReader(greedy).read(request(''))
    expect(problems).toEqual([{ place: 'a.yaml', message: 'the files need too much memory; apply them in parts' }])
  })
})
