import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { download } from '../../cli/download.ts'
import { CommandFault, Interrupted } from '../../cli/fault.ts'
import { renderBar } from '../../cli/progress.ts'
import { type FakeIo, fakeIo } from './fake-io.ts'

const content = Buffer.from('what the gateway sends')
const sha256 = createHash('sha256').update(content).digest('hex')
const begin = { kind: 'begin', bytes: content.length, summary: { keys: 3 } }
const bytes = [content.subarray(0, 9), content.subarray(9)].map((part) => ({
  kind: 'bytes',
  base64: part.toString('base64'),
}))
const whole: object[] = [
  { kind: 'progress', stage: 'copying', done: 1, total: 2 },
  begin,
  ...bytes,
  { kind: 'end', sha256 },
]

let directory: string
let path: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'download-'))
  path = join(directory, 'file')
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
})

async function* stream(events: readonly object[]): AsyncGenerator<object> {
  yield* events
}

const run = (events: readonly object[], more: { force?: boolean; io?: FakeIo } = {}) =>
  download(
    { path, force: more.force ?? false, name: 'x', ending: 'csv' },
    async () => stream(events),
    more.io ?? fakeIo(),
  )

describe('a download', () => {
  it('is there under its name when all of it is', async () => {
    expect(await run(whole)).toEqual({ file: path, bytes: content.length, sha256, keys: 3 })
    expect(readFileSync(path)).toEqual(content)
    expect(readdirSync(directory)).toEqual(['file'])
  })

  it('says what it may lack, which may be known at its end only', async () => {
    const lacking = whole.map((event) => ('sha256' in event ? { ...event, missing: 'this node only' } : event))
    expect(await run(lacking)).toMatchObject({ file: path, keys: 3, missing: 'this node only' })
  })

  it.each([
    ['ends early', whole.slice(0, -1)],
    ['lacks bytes', [begin, ...bytes.slice(1), { kind: 'end', sha256 }]],
    ['has other bytes', [begin, ...bytes.toReversed(), { kind: 'end', sha256 }]],
    ['is shorter than was said', [{ ...begin, bytes: 5 }, ...bytes, { kind: 'end', sha256 }]],
  ])('that %s is no file', async (_what, events) => {
    await expect(run(events)).rejects.toThrow(CommandFault)
    expect(readdirSync(directory)).toEqual([])
  })

  it('never takes the place of another file unless it is told to', async () => {
    writeFileSync(path, 'precious')
    await expect(run(whole)).rejects.toMatchObject({ exitStatus: 5 })
    await expect(run(whole.slice(0, -1), { force: true })).rejects.toThrow(CommandFault)
    expect(readFileSync(path, 'utf8')).toBe('precious')
    await run(whole, { force: true })
    expect(readFileSync(path)).toEqual(content)
  })

  it('is given up on Ctrl-C, and leaves nothing', async () => {
    const io = fakeIo()
    const aborted = async (signal: AbortSignal) => {
      async function* interrupted(): AsyncGenerator<object> {
        yield* whole.slice(0, -1)
        io.interrupt()
        signal.throwIfAborted()
      }
      return interrupted()
    }
    await expect(download({ path, force: false, name: 'x', ending: 'csv' }, aborted, io)).rejects.toThrow(Interrupted)
    expect(readdirSync(directory)).toEqual([])
  })

  it('shows a bar on a terminal, and takes it away', async () => {
    const io = fakeIo({ terminal: true })
    await run(whole, { io })
    for (const stage of ['copying', 'receiving', 'verifying']) expect(io.err()).toContain(stage)
    expect(io.err().endsWith('\r\u001b[K')).toBe(true)
    const quiet = fakeIo()
    rmSync(path)
    await run(whole, { io: quiet })
    expect(quiet.err()).toBe('')
  })
})

describe('a bar', () => {
  it('says how far it is, and how much when nobody knows the whole', () => {
    expect(renderBar('copying', 500_000, 1_000_000)).toBe(
      `copying    ${'█'.repeat(12)}${'░'.repeat(12)}  50%  500 KB of 1.0 MB`,
    )
    expect(renderBar('copying', 500_000, null)).toBe('copying    500 KB')
    expect(renderBar('copying', 3, 2)).toContain('100%')
  })
})
