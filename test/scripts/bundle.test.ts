import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { bundle } from '../../scripts/bundle.ts'
import { faultPoints } from '../../src/core/fault-point.ts'

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'bundle-'))
})
afterAll(() => rm(directory, { recursive: true, force: true }))

const traces = ['SPGW_FAULT_POINT', 'FaultPoint', ...faultPoints]

async function tracesIn(folder: string): Promise<string[]> {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.js'))
  const texts = await Promise.all(files.map((name) => readFile(join(folder, name), 'utf8')))
  expect(texts.length).toBeGreaterThan(2)
  return traces.filter((trace) => texts.some((text) => text.includes(trace)))
}

it('leaves nothing of the fault points in what is released', async () => {
  await bundle(join(directory, 'released'))
  expect(await tracesIn(join(directory, 'released'))).toEqual([])
})

it('keeps them all in a test build', async () => {
  await bundle(join(directory, 'tests'), { forTests: true })
  expect(await tracesIn(join(directory, 'tests'))).toEqual(traces)
})
