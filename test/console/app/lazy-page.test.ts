import { describe, expect, it } from 'vitest'
import { forgetFailedLoads, lazyPage, lazyPart, loadAllParts } from '../../../src/console/app/shell/lazy-page.ts'

const Page = () => null

/** What React does: draws, and where something is thrown waits for it, or shows the error. */
async function draw(part: (props: object) => unknown): Promise<unknown> {
  for (;;)
    try {
      return part({})
    } catch (thrown) {
      if (!(thrown instanceof Promise)) return thrown
      await thrown
    }
}

/** Fails so many times first. */
function loader(failures: number) {
  const loads = { count: 0 }
  const load = async () => {
    loads.count++
    if (loads.count <= failures) throw new Error(`failure ${loads.count}`)
    return Page
  }
  return { loads, load }
}

describe('a part with a script of its own', () => {
  it('is loaded when it is first drawn, once for all who draw it', async () => {
    const { loads, load } = loader(0)
    const part = lazyPart(load)
    expect(loads.count).toBe(0)
    const drawn = await Promise.all([draw(part), draw(part), part.preload()])
    expect(drawn.slice(0, 2)).toMatchObject([{ type: Page }, { type: Page }])
    await draw(part)
    expect(loads.count).toBe(1)
  })

  it('that cannot be loaded shows the error, again and again without asking again', async () => {
    const { loads, load } = loader(1)
    const part = lazyPart(load)
    expect(await draw(part)).toMatchObject({ message: 'failure 1' })
    expect(await draw(part)).toMatchObject({ message: 'failure 1' })
    expect(loads.count).toBe(1)
  })

  it('is asked for again when somebody tries again', async () => {
    const part = lazyPart(loader(1).load)
    await draw(part)
    forgetFailedLoads()
    expect(await draw(part)).toMatchObject({ type: Page })
  })

  it('that failed in the background is loaded when it is opened', async () => {
    const part = lazyPart(loader(1).load)
    await part.preload()
    await part.preload()
    expect(await draw(part)).toMatchObject({ type: Page })
  })

  it('is loaded with all others, however many of them fail', async () => {
    const [broken, whole] = [loader(9), loader(0)]
    lazyPart(broken.load)
    const last = lazyPage(async () => ({ Last: await whole.load() }), 'Last')
    await loadAllParts()
    expect([broken.loads.count, whole.loads.count]).toEqual([1, 1])
    expect(await draw(last)).toMatchObject({ type: Page })
    expect(whole.loads.count).toBe(1)
  })
})
