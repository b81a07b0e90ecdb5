import { afterEach, describe, expect, it } from 'vitest'
import { sampleRecord } from '../support/sample-record.ts'
import { type Driven, drive, streamOf } from './drive.ts'

let driven: Driven
afterEach(() => driven.stop())

describe('a search that takes long', () => {
  it('shows how far it is, goes on, and ends', async () => {
    const second = Promise.withResolvers<void>()
    const pages = [
      {
        requests: [sampleRecord({ model: 'found-first' })],
        before: 'req_a',
        searched_until: '2026-11-20T10:00:00.000Z',
      },
      { requests: [sampleRecord({ model: 'found-later' })], before: null, searched_until: null },
    ]
    driven = drive({
      'requests.tail': () => streamOf([]),
      'requests.search': async ({ before }: { before?: string }) => {
        if (before === undefined) return pages[0]
        await second.promise
        return pages[1]
      },
    })
    await driven.press('5', 'f')
    await driven.see('Slower than')
    await driven.press(...new Array<string>(8).fill('down'), '=5s', 'ctrl-s')
    await driven.see('found-first')
    expect(driven.text(160)).toContain('searched back to')
    second.resolve()
    await driven.see('found-later')
    await driven.until(() => !driven.text(160).includes('searched back to'))
    const asked = driven.calls.filter(({ path }) => path === 'requests.search').map(({ input }) => input)
    expect(asked).toMatchObject([{ limit: 200 }, { limit: 199, before: 'req_a' }])
  })
})
