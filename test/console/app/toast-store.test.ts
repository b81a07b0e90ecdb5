import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  closeToast,
  readToasts,
  subscribeToasts,
  toast,
  toastFault,
} from '../../../src/console/app/parts/toast-store.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => {
  for (const { id } of readToasts()) closeToast(id)
  vi.useRealTimers()
})

const titles = () => readToasts().map(({ title }) => title)
const undo = { title: 'Undo', run() {} }

describe('what is said in the corner', () => {
  it('goes by itself, later where there is something to do about it, and never where it went wrong', () => {
    toast({ tone: 'good', title: 'saved' })
    toast({ tone: 'plain', title: 'removed', action: undo })
    toast({ tone: 'bad', title: 'refused', action: undo })
    vi.advanceTimersByTime(5999)
    expect(titles()).toEqual(['saved', 'removed', 'refused'])
    vi.advanceTimersByTime(1)
    expect(titles()).toEqual(['removed', 'refused'])
    vi.advanceTimersByTime(9000)
    expect(titles()).toEqual(['refused'])
    vi.advanceTimersByTime(24 * 3600_000)
    expect(titles()).toEqual(['refused'])
  })

  it('is no more than four things, of which what went wrong makes room last', () => {
    toast({ tone: 'bad', title: 'refused' })
    for (const title of ['one', 'two', 'three', 'four', 'five']) toast({ tone: 'good', title })
    expect(titles()).toEqual(['refused', 'three', 'four', 'five'])
    for (const title of ['bad one', 'bad two', 'bad three', 'bad four']) toast({ tone: 'bad', title })
    expect(titles()).toEqual(['bad one', 'bad two', 'bad three', 'bad four'])
  })

  it('is closed by its own number, once, and its time does not close another', () => {
    toast({ tone: 'good', title: 'first' })
    const [first] = readToasts()
    closeToast(first?.id ?? 0)
    vi.advanceTimersByTime(3000)
    toast({ tone: 'good', title: 'second' })
    vi.advanceTimersByTime(3000)
    expect(titles()).toEqual(['second'])
  })

  it('is heard by who listens, until they no longer do', () => {
    const heard = vi.fn()
    const leave = subscribeToasts(heard)
    toast({ tone: 'good', title: 'one' })
    leave()
    toast({ tone: 'good', title: 'two' })
    expect(heard).toHaveBeenCalledTimes(1)
  })

  it('of an error has what to do, and stays', () => {
    toastFault(new TypeError('Failed to fetch'))
    vi.advanceTimersByTime(60_000)
    expect(readToasts()).toMatchObject([
      {
        tone: 'bad',
        code: 'unreachable',
        title: 'The gateway is not responding.',
        text: expect.stringContaining('spgw status'),
      },
    ])
  })
})
