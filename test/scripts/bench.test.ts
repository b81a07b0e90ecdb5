import { describe, expect, it } from 'vitest'
import { aims, evaluate } from '../../scripts/bench/aims.ts'
import { readScript } from '../../scripts/bench/perf.ts'
import { Results } from '../../scripts/bench/results.ts'
import { HeapWatch } from '../../scripts/bench/soak/heap-watch.ts'
import { fitTrend, isFlat } from '../../scripts/bench/soak/trend.ts'

function verdictOf(title: string, own: Record<string, number>, peer: Record<string, number>) {
  const results = new Results()
  results.add('spgw', own)
  results.add('portkey', peer)
  const aim = aims.find((each) => each.title === title)
  return aim && evaluate(aim, results)
}

describe('targets', () => {
  it('ask for many times the peer’s requests a second', () => {
    const judged = (own: number) =>
      verdictOf('requests/s ÷ Portkey’s', { 'small-rate-32': own }, { 'small-rate-32': 10 })
    expect([judged(59), judged(60), judged(80)]).toEqual(['MISSED', 'must met', 'aim met'])
  })

  it('ask that the peer’s work cost many times ours', () => {
    const judged = (own: number) =>
      verdictOf('Portkey’s CPU of a small request ÷ ours', { 'small-cpu-32': own }, { 'small-cpu-32': 480 })
    expect([judged(81), judged(80), judged(60)]).toEqual(['MISSED', 'must met', 'aim met'])
  })

  it('tell nothing of what was not measured', () => {
    expect(verdictOf('idle memory', {}, {})).toBeNull()
  })
})

describe('results', () => {
  it('are the same after they were stored, and then go on', () => {
    const results = new Results()
    results.add('nginx', { 'small-cpu-32': 14 })
    results.turns = 1
    const circumstances = { machine: 'm', node: '26', peerNode: '26', executable: 'e' }
    const again = new Results(JSON.parse(JSON.stringify(results.store(circumstances))))
    again.add('nginx', { 'small-cpu-32': 16, 'idle-mb': 10 })
    expect([again.turns, again.median('nginx', 'small-cpu-32'), again.rounds]).toEqual([1, 15, [1, 2]])
  })
})

describe('trend', () => {
  const hours = Array.from({ length: 90 }, (_, index) => index / 360)
  const wave = (hour: number) => 2 * Math.sin(hour * 300)

  it('finds what rises among what moves', () => {
    const values = hours.map((hour) => 200 + 60 * hour + wave(hour))
    const trend = fitTrend(hours, values)
    expect(trend.perHour).toBeCloseTo(60, -1)
    expect(isFlat(trend, 0.25)).toBe(false)
  })

  it('takes what only moves for flat', () => {
    const values = hours.map((hour) => 200 + wave(hour))
    expect(isFlat(fitTrend(hours, values), 0.25)).toBe(true)
  })
})

it('reads from perf which thread ran what, and how it came into the kernel', () => {
  const text = `spgw-gateway  77
\t  ffff1 tcp_ack+0x1c ([kernel.kallsyms])
\t  ffff2 sock_write_iter+0x9 ([kernel.kallsyms])
\t  ffff3 do_writev+0x4 ([kernel.kallsyms])
\t   abc1 uv__write (/bin/node)

node-V8Worker 78
\t   abc2 v8::internal::Scavenger::Process(int, bool) (/bin/node)
`
  expect(readScript(text)).toEqual([
    { thread: 'spgw-gateway', symbol: 'tcp_ack', inKernel: true, kernelCall: 'writev, socket' },
    { thread: 'V8Worker', symbol: 'v8::internal::Scavenger::Process(int, bool)', inKernel: false, kernelCall: '' },
  ])
})

it('reads what full collections left of each heap', () => {
  const heaps = new HeapWatch()
  const collect = (where: string, kind: string, left: string) =>
    heaps.read(`[${where}]      50 ms: ${kind} 90.1 (99.4) -> ${left} (99.5) MB, pooled: 0.0 MB`)
  collect('8:0x7fff1', 'Mark-Compact (reduce)', '5.0')
  collect('9:0x7fff1', 'Mark-Compact (reduce)', '6.7')
  collect('9:0x1000', 'Incremental Mark-Compact', '8.5')
  collect('9:0x7fff0', 'Incremental Mark-Compact', '9.5')
  collect('9:0x7fff0', 'Scavenge', '12.5')
  expect([heaps.dataPlaneBytes, heaps.storeBytes]).toEqual([9.5e6, 6.7e6])
})
