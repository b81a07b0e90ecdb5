import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { FaultPoint } from '../../src/core/fault-point.ts'
import { type ChangeKind, changeKinds } from './changes.ts'
import { CrashGateway } from './gateway.ts'
import type { Scene } from './scene.ts'

/** Where a kill comes by chance. */
export type KillKind = 'under load' | 'at start' | 'during a change' | 'during a flood'

/** Points that a crash run passes; those of backup and restore have tests of their own. */
export const passedPoints = [
  'ingest.before-commit',
  'ingest.after-commit',
  'ingest.after-delete',
  'interrupt.before-commit',
  'interrupt.after-commit',
  'checkpoint.before',
  'checkpoint.after',
  'publish.before-swap',
  'publish.first-swapped',
  'publish.after-swap',
  'key-change.before-commit',
  'key-change.after-commit',
  'seal-rotate.key-written',
  'seal-rotate.before-commit',
  'seal-rotate.after-commit',
  'seal-rotate.durable',
  'seal-rotate.key-installed',
  'seal-rotate.before-publish',
  'journal.after-admitted',
  'journal.after-objects',
  'journal.before-settled',
  'journal.after-settled',
] as const satisfies readonly FaultPoint[]
/** Passed when a database is made. */
export const makingPoints = [
  'migrate.after-copy',
  'migrate.before-commit',
  'migrate.after-commit',
] as const satisfies readonly FaultPoint[]

export type PassedPoint = (typeof passedPoints)[number]
type MakingPoint = (typeof makingPoints)[number]

/** How late the point may strike: the Nth passing, N below this. */
const latestPassing: Partial<Record<PassedPoint, number>> = {
  'ingest.before-commit': 6,
  'ingest.after-commit': 6,
  'publish.before-swap': 4,
  'publish.first-swapped': 4,
  'publish.after-swap': 4,
  'journal.after-admitted': 60,
  'journal.after-objects': 20,
  'journal.before-settled': 60,
  'journal.after-settled': 60,
}
/** Longer than anything here takes that is not stuck. */
const strikeLimitMs = 30_000

/** Kills with load on, at a random moment, or at one when requests are in progress. */
export async function killUnderLoad(scene: Scene, inProgress = false): Promise<void> {
  const gateway = scene.start()
  const address = await expectReady(gateway, scene)
  if (scene.random.chance(0.7) || scene.changes.inDoubt) await gateway.withAdmin((admin) => scene.look(admin))
  const load = scene.load(address)
  if (inProgress) await load.begun
  await wait(scene.random.between(5, 450))
  await gateway.kill()
  await load.end()
}

/** While it opens the database, ingests what the run before left, publishes and begins to listen. */
export async function killAtStart(scene: Scene): Promise<void> {
  const gateway = scene.start()
  const time = wait(scene.random.between(0, 900))
  const address = await Promise.race([time, gateway.ready])
  const load = typeof address === 'string' ? scene.load(address) : null
  await time
  await gateway.kill()
  await load?.end()
}

/** Around the moment at which a change of the configuration is committed, published and acknowledged. */
export async function killDuringChange(scene: Scene): Promise<void> {
  const { random, changes } = scene
  const gateway = scene.start()
  const address = await expectReady(gateway, scene)
  await gateway.withAdmin(async (admin) => {
    if (changes.inDoubt) await scene.look(admin)
    const load = scene.load(address)
    await wait(random.between(5, 150))
    const acknowledged = changes.make(random.pick(changeKinds), admin).catch(ignore)
    // One at least is awaited, however few the kills: it must hold from then on.
    const awaited = random.chance(0.4) || changes.acknowledged === 0
    await (awaited ? acknowledged : wait(random.between(0, 30)))
    await gateway.kill()
    await load.end()
    await acknowledged
  })
}

/** While far more is refused than gets records of its own. */
export async function killDuringFlood(scene: Scene): Promise<void> {
  const gateway = scene.start()
  const address = await expectReady(gateway, scene)
  const flood = scene.load(address, 24, 'flood')
  await wait(scene.random.between(100, 400))
  await gateway.kill()
  await flood.end()
}

/** Where the code says; false when the gateway did not get there. */
export async function killAtPoint(scene: Scene, point: PassedPoint): Promise<boolean> {
  // A second change in doubt is more than a client could tell apart.
  const needsLeftovers = point.startsWith('interrupt.') || point === 'ingest.after-delete'
  if (scene.changes.inDoubt || needsLeftovers) await killUnderLoad(scene, true)
  const passing = scene.random.between(1, latestPassing[point] ?? 2)
  const environment = { SPGW_FAULT_POINT: `${point}:${passing}`, SPGW_GATEWAY_WORKERS: '2' }
  const gateway = scene.start(scene.programs.tests, environment)
  const address = await gateway.ready
  if (address !== null) {
    const load = scene.load(address)
    const changing = changeUntilDeath(scene, gateway, kindsFor(point))
    const struck = await Promise.race([gateway.ended.then(() => true), wait(strikeLimitMs, false)])
    if (!struck) await gateway.kill()
    await load.end()
    await changing
    return struck && gateway.killed
  }
  return gateway.killed
}

function kindsFor(point: PassedPoint): readonly ChangeKind[] {
  if (point.startsWith('seal-rotate.')) return ['rotate-seal']
  return point.startsWith('key-change.') ? ['rotate-key'] : changeKinds
}

async function changeUntilDeath(scene: Scene, gateway: CrashGateway, kinds: readonly ChangeKind[]): Promise<void> {
  await gateway.withAdmin(async (admin) => {
    while (!gateway.over && !scene.changes.inDoubt) {
      await scene.changes.make(scene.random.pick(kinds), admin).catch(ignore)
      await wait(50)
    }
  })
}

/** While the first start makes the database; false when it did not get there. The next start must find its way. */
export async function killAtMaking(scene: Scene, point: MakingPoint): Promise<boolean> {
  const dataDirectory = await mkdtemp(join(scene.directory, 'making-'))
  const program = scene.programs.tests
  const first = new CrashGateway({ program, dataDirectory, environment: { SPGW_FAULT_POINT: point } })
  await Promise.race([first.ended, wait(strikeLimitMs)])
  const struck = first.killed
  await first.kill()
  const second = new CrashGateway({ program, dataDirectory })
  await expectReady(second, scene)
  const projects = await second.withAdmin((admin) => admin.projects.list({}))
  if (projects.length !== 1) scene.account.wrong(`after ${point} there are ${projects.length} first projects`)
  await second.kill()
  await rm(dataDirectory, { recursive: true, force: true })
  return struck
}

async function expectReady(gateway: CrashGateway, scene: Scene): Promise<string> {
  const address = await gateway.ready
  if (address === null) throw new Error(`a gateway did not start on ${scene.dataDirectory}:\n${gateway.output}`)
  return address
}

function ignore(): void {}
