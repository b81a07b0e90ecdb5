import { readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { passedPoints } from '../../scripts/crash/kills.ts'
import { type CrashResult, runCrashes } from '../../scripts/crash/run.ts'
import { faultPoints } from '../../src/core/fault-point.ts'
import { testBundle } from '../support/bundle-once.ts'
import { executable } from '../support/executable.ts'

/** A rotation of the machine key is killed at one point by chance: test/integration/rotate-crash.test.ts takes a third of them. */
const rotation = passedPoints.filter((point) => point.startsWith('seal-rotate.'))
const others = passedPoints.filter((point) => !rotation.includes(point))
const seed = Date.now() % 1_000_000
/** Of the others every sixth one, by chance: `npm run crash` takes all of them. */
const points = passedPoints.filter((point) =>
  rotation.includes(point) ? point === rotation[seed % rotation.length] : others.indexOf(point) % 6 === seed % 6,
)
const kills = 9

/** The short form of `npm run crash`: what is checked, and how, stands in docs/reliability.md. */
it(`${kills} times kill -9: every id that a client saw stands exactly once`, { timeout: 1_800_000 }, async () => {
  const result: CrashResult = await runCrashes({ kills, seed, executable, tests: testBundle, points })
  const { counts, problems, directory } = result
  expect(problems, `seed ${seed}, kept in ${directory}`).toEqual([])
  expect(result.missed, `seed ${seed}`).toEqual([])
  expect(counts).toMatchObject({ checked: counts.ids, lost: 0, doubled: 0, wrong: 0 })
  expect(result.recorded).toEqual(result.served)
  // It can prove something only where something was under way, and something was done.
  expect(counts.settled).toBeGreaterThan(kills)
  expect(counts.interrupted).toBeGreaterThan(0)
  expect(result.served.output).toBeGreaterThan(0)
  expect(result.acknowledgedChanges).toBeGreaterThan(0)
})

it('hands out nothing that dies on purpose', async () => {
  const bytes = await readFile(executable)
  // The text can be found at all: it is neither compressed nor compiled.
  expect(bytes.includes('x-sp-request-id')).toBe(true)
  for (const trace of ['SPGW_FAULT_POINT', ...faultPoints])
    expect([trace, bytes.includes(trace)]).toEqual([trace, false])
})

it('has a bundle for tests that dies wherever it is asked to', async () => {
  const directory = dirname(testBundle)
  const scripts = (await readdir(directory)).filter((name) => name.endsWith('.js'))
  const texts = await Promise.all(scripts.map((name) => readFile(join(directory, name), 'utf8')))
  const missing = ['SPGW_FAULT_POINT', 'FaultPoint', ...faultPoints].filter(
    (trace) => !texts.some((text) => text.includes(trace)),
  )
  expect(missing).toEqual([])
})
