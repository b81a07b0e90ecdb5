import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FaultPoint } from '../../src/core/fault-point.ts'
import { bundle } from '../bundle.ts'
import type { Counts } from './account.ts'
import {
  type KillKind,
  killAtMaking,
  killAtPoint,
  killAtStart,
  killDuringChange,
  killDuringFlood,
  killUnderLoad,
  makingPoints,
  type PassedPoint,
  passedPoints,
} from './kills.ts'
import { seededRandom } from './random.ts'
import { readRecords, Scene } from './scene.ts'

export interface CrashOptions {
  kills: number
  seed: number
  /** The packaged gateway. */
  executable: string
  /** A bundle with fault points that there is already; absent: one is made. */
  tests?: string
  /** Each fault point once at least; absent: all that such a run can pass. */
  points?: readonly PassedPoint[]
  onKill?(done: number, problems: number): void
}

export interface CrashResult {
  seed: number
  /** How many of each kind; a fault point by its name. */
  kills: Record<string, number>
  /** Points whose process went past them, or never came there. */
  missed: FaultPoint[]
  counts: Counts
  acknowledgedChanges: number
  /** Tokens of the calls that were answered whole: by the providers, by the records. */
  served: { input: number; output: number }
  recorded: { input: number; output: number }
  interruptedTokens: number
  problems: string[]
  /** Kept when there is a problem; null when all is well. */
  directory: string | null
}

const weights: Record<KillKind | 'at a point', number> = {
  'under load': 48,
  'at start': 16,
  'during a change': 14,
  'during a flood': 2,
  'at a point': 20,
}

const mustKinds = ['during a flood', 'during a change'] as const satisfies readonly KillKind[]

/** Kills gateways, one after the other on the same data directory, and holds every record against what was seen. */
export async function runCrashes(options: CrashOptions): Promise<CrashResult> {
  const { kills, seed, executable, points = passedPoints, onKill } = options
  const directory = await mkdtemp(join(tmpdir(), 'crash-'))
  if (options.tests === undefined) await bundle(join(directory, 'tests'), { forTests: true })
  const tests = { command: process.execPath, leading: [options.tests ?? join(directory, 'tests/main.js')] }
  const programs = { released: { command: executable, leading: [] }, tests }
  const random = seededRandom(seed)
  const scene = await Scene.set({ seed, random, directory, programs })
  const run = new CrashRun(scene)
  try {
    // Each point, a flood and a change once at least, however few the kills; the rest by chance.
    const musts = [...mustKinds, ...makingPoints, ...points]
    if (kills < musts.length) throw new RangeError(`${musts.length} kills at least: each point wants one`)
    const firsts = [...musts.keys()].map((index) => Math.floor((index * kills) / musts.length))
    for (let done = 0; done < kills; done++) {
      const due = musts[firsts.indexOf(done)]
      await run.kill(due ?? random.weighted(weights))
      onKill?.(done + 1, scene.account.problems.length)
    }
    const result = await run.conclude(seed)
    if (result.directory === null) await rm(directory, { recursive: true, force: true })
    return result
  } catch (error) {
    throw new Error(`seed ${seed}, kept in ${directory}`, { cause: error })
  } finally {
    await scene.close()
  }
}

/** A change whose answer a busy machine has lost leaves in doubt what stands, and no other one is made: the point is then sought once more. */
async function seek(scene: Scene, point: (typeof passedPoints)[number]): Promise<boolean> {
  return (await killAtPoint(scene, point)) || (await killAtPoint(scene, point))
}

class CrashRun {
  readonly #scene: Scene
  readonly #kills = new Map<string, number>()
  readonly #missed: FaultPoint[] = []

  constructor(scene: Scene) {
    this.#scene = scene
  }

  async kill(kind: KillKind | 'at a point' | FaultPoint): Promise<void> {
    const scene = this.#scene
    const chosen = kind === 'at a point' ? scene.random.pick([...passedPoints, ...makingPoints]) : kind
    this.#kills.set(chosen, (this.#kills.get(chosen) ?? 0) + 1)
    if (chosen === 'under load') return killUnderLoad(scene)
    if (chosen === 'at start') return killAtStart(scene)
    if (chosen === 'during a change') return killDuringChange(scene)
    if (chosen === 'during a flood') return killDuringFlood(scene)
    const making = makingPoints.find((each) => each === chosen)
    const passed = passedPoints.find((each) => each === chosen)
    const struck = making ? await killAtMaking(scene, making) : passed ? await seek(scene, passed) : false
    if (!struck) this.#missed.push(chosen)
  }

  /** The last look: all records, and the sums. */
  async conclude(seed: number): Promise<CrashResult> {
    const { account, changes, directory } = this.#scene
    const gateway = this.#scene.start()
    await gateway.ready
    const { records, total } = await gateway.withAdmin(async (admin) => {
      await this.#scene.look(admin)
      const [total] = await admin.requests.stats({})
      return { records: await readRecords(admin, new Date(0)), total }
    })
    await gateway.kill()
    account.checkAll(records)
    const sum = (figure: 'input' | 'output') => records.reduce((all, { tokens }) => all + (tokens?.[figure] ?? 0), 0)
    const interrupted = records.filter(({ state }) => state === 'interrupted')
    const interruptedTokens = interrupted.reduce(
      (all, { tokens }) => all + (tokens?.input ?? 0) + (tokens?.output ?? 0),
      0,
    )
    const expected = [records.length, interrupted.length, interruptedTokens, sum('input'), sum('output')]
    const reported = [total?.requests, total?.interrupted, total?.interrupted_tokens, total?.input, total?.output]
    if (String(expected) !== String(reported)) account.wrong(`stats say ${reported}; the records come to ${expected}`)
    const [served, recorded] = [account.served(), account.recorded(records)]
    if (served.input !== recorded.input || served.output !== recorded.output) {
      account.wrong(`providers served ${JSON.stringify(served)}; recorded is ${JSON.stringify(recorded)}`)
    }
    const { problems } = account
    return {
      seed,
      kills: Object.fromEntries(this.#kills),
      missed: this.#missed,
      counts: account.total(),
      acknowledgedChanges: changes.acknowledged,
      served,
      recorded,
      interruptedTokens,
      problems,
      directory: problems.length === 0 ? null : directory,
    }
  }
}
