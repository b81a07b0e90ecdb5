import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Failures } from '../../src/sign-in/failures.ts'
import type { AuditLine, StoreClient } from '../../src/store/api.ts'
import type { Operator } from '../../src/store/operators/operator-tables.ts'

const anna = { id: 'opr_1', name: 'anna' } as Operator

let lines: AuditLine[]
let faults: unknown[]
let refused: Error | null
let failures: Failures

beforeEach(() => {
  vi.useFakeTimers()
  lines = []
  faults = []
  refused = null
  const note = async () => {
    if (refused !== null) throw refused
  }
  const store: Partial<StoreClient> = {
    audited(line) {
      lines.push(line)
      return { audit: { note } } as unknown as ReturnType<StoreClient['audited']>
    },
  }
  failures = new Failures(store as StoreClient, (error) => faults.push(error))
})
afterEach(() => {
  failures.close()
  vi.useRealTimers()
})

const details = () => lines.map((line) => line.after)

describe('failed sign-ins', () => {
  it('are one line at once, and one a minute later for all that followed', () => {
    for (let time = 0; time < 5; time++) failures.note(anna, 'password', `203.0.113.${time}`)
    expect(details()).toEqual([{ method: 'password', address: '203.0.113.0' }])
    vi.advanceTimersByTime(60_000)
    expect(details().slice(1)).toEqual([
      { failures: 4, addresses: ['203.0.113.1', '203.0.113.2', '203.0.113.3', '203.0.113.4'] },
    ])
  })

  it('are no second line where none followed, and the next is a first one again', () => {
    failures.note(anna, 'password', '203.0.113.1')
    vi.advanceTimersByTime(60_000)
    failures.note(anna, 'passkey', '203.0.113.2')
    expect(details()).toEqual([
      { method: 'password', address: '203.0.113.1' },
      { method: 'passkey', address: '203.0.113.2' },
    ])
  })

  it('name ten addresses at most, each once, and count all', () => {
    for (let time = 0; time < 1001; time++) failures.note(null, 'password', `203.0.113.${time % 40}`)
    vi.advanceTimersByTime(60_000)
    const [, rest] = details() as { failures: number; addresses: string[] }[]
    expect(rest?.failures).toBe(1000)
    expect(new Set(rest?.addresses).size).toBe(10)
  })

  it('have no name that somebody typed: it may be his password', () => {
    failures.note(null, 'password', '203.0.113.1')
    expect(lines[0]?.resource).toEqual({ kind: 'operator', id: '', name: 'unknown' })
    vi.advanceTimersByTime(60_000)
    failures.note(anna, 'password', '203.0.113.1')
    expect(lines[1]?.resource).toEqual({ kind: 'operator', id: 'opr_1', name: 'anna' })
  })

  it('that wait for their line have it at the end, once', () => {
    for (let time = 0; time < 3; time++) failures.note(anna, 'password', '203.0.113.1')
    failures.close()
    vi.advanceTimersByTime(120_000)
    failures.close()
    expect(details().slice(1)).toEqual([{ failures: 2, addresses: ['203.0.113.1'] }])
  })

  it('are counted on where the store cannot be written', async () => {
    refused = new Error('the disk is full')
    failures.note(anna, 'password', '203.0.113.1')
    failures.note(anna, 'password', '203.0.113.1')
    await vi.advanceTimersByTimeAsync(60_000)
    expect(faults).toEqual([refused, refused])
    expect(lines).toHaveLength(2)
  })
})
