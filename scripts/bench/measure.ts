import { warmUp } from './load.ts'
import type { Results } from './results.ts'
import type { Bench, Part, Target, TargetName } from './target.ts'

/**
 * One round: every chosen part on every target, in turns, with the order turned from round to round, so that what moves on the
 * machine falls on all alike. A trial that fails is a trouble and no figure.
 */
export async function measureRound(bench: Bench, chosen: readonly Part[], results: Results): Promise<void> {
  const all = Object.keys(bench.starters) as TargetName[]
  const names = all.map((_, index) => all[(index + results.turns) % all.length]!)
  results.turns++
  const running = new Map<TargetName, Target>()
  try {
    for (const part of chosen.filter(({ possible }) => possible?.(bench) ?? true)) {
      for (const name of names.filter((each) => part.only?.includes(each) ?? true)) {
        const figures = await measureOne(bench, part, name, running).catch((error: unknown) => {
          results.troubles.push({ target: name, part: part.name, reason: String(error) })
          return {}
        })
        results.add(name, figures)
      }
    }
  } finally {
    for (const target of running.values()) await target.stop()
  }
}

async function measureOne(bench: Bench, part: Part, name: TargetName, running: Map<TargetName, Target>) {
  process.stderr.write(`${(performance.now() / 1000).toFixed(0).padStart(5)} s  ${part.name}: ${name}\n`)
  const begin = bench.starters[name]!
  if (part.fresh === undefined) {
    const target = running.get(name) ?? (await begin())
    if (!running.has(name)) {
      running.set(name, target)
      await warmUp(bench, target)
    }
    return await part.measure(target, bench)
  }
  const target = await begin(part.fresh)
  try {
    return await part.measure(target, bench)
  } finally {
    await target.stop()
  }
}
