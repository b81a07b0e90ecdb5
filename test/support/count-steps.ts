import { Session } from 'node:inspector/promises'

// From the moment this file is loaded: V8 counts the blocks of those functions only that it compiles afterwards, which it does when they
// are first called.
if (process.env.SPGW_TEST_COUNTED !== '1') throw new Error('Name this test in `counted` of vitest.config.ts.')
const session = new Session()
session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })

/**
 * How often the blocks of the program's own code were entered while `act` ran: every call, branch and turn of a loop. The same on any
 * machine, however busy. What native code does (a search, a copy) counts as nothing.
 */
export async function countSteps(act: () => unknown): Promise<number> {
  await session.post('Profiler.takePreciseCoverage')
  await act()
  const { result } = await session.post('Profiler.takePreciseCoverage')
  const own = result.filter(({ url }) => url.includes('/src/'))
  const functions = own.flatMap((script) => script.functions)
  return functions.flatMap(({ ranges }) => ranges).reduce((sum, { count }) => sum + count, 0)
}

/** How many times as many steps it takes with twice as much. */
export async function growth(act: (size: number) => unknown, size: number): Promise<number> {
  // Once beforehand, for what is made but once.
  await act(size)
  const once = await countSteps(() => act(size))
  return (await countSteps(() => act(2 * size))) / once
}
