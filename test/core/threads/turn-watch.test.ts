import { expect, it } from 'vitest'
import { Liveness, type LongTurn, nowDoing, TurnWatch } from '../../../src/core/threads/turn-watch.ts'

function watched() {
  const time = { now: performance.now(), cpu: 0 }
  const told: LongTurn[] = []
  const watch = new TurnWatch((turn) => told.push(turn), { now: () => time.now, cpu: () => time.cpu })
  // What the thread did before, in other tests, is over.
  watch.tick()
  told.length = 0
  return { time, told, watch }
}

it('tells of a turn that kept its thread for long, with the time that it had itself', () => {
  const { time, told, watch } = watched()
  for (let tick = 0; tick < 5; tick++) {
    time.now += TurnWatch.everyMs + 300
    watch.tick()
  }
  expect(told).toEqual([])
  time.now += TurnWatch.everyMs + 700
  time.cpu += 650
  watch.tick()
  time.now += TurnWatch.everyMs
  watch.tick()
  expect(told).toEqual([{ ms: 700, cpuMs: 650, work: 'unnamed work' }])
})

it('says what ran', () => {
  const { time, told, watch } = watched()
  watch.tick()
  nowDoing('operation', '/api/diff')
  time.now += TurnWatch.everyMs + 2000
  watch.tick()
  expect(told).toHaveLength(1)
  expect(told[0]?.work).toBe('operation /api/diff')
})

it('takes the control plane for hanging after ten seconds of its own time', () => {
  const memory = Liveness.memory()
  const [own, other] = [new Liveness(memory), new Liveness(memory)]
  for (let tick = 0; tick < 200; tick++) other.listen()
  expect(other.silentSeconds).toBe(0)
  for (let tick = 0; tick < 200; tick++) {
    own.beat()
    other.listen()
  }
  expect(other.silentSeconds).toBe(0)
  for (let tick = 0; tick < 99; tick++) other.listen()
  expect(other.silentSeconds).toBe(0)
  for (let tick = 0; tick < 51; tick++) other.listen()
  expect(other.silentSeconds).toBe(15)
  own.beat()
  other.listen()
  expect(other.silentSeconds).toBe(0)
})
