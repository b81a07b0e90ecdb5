import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const group = `spgw-bench-${process.pid}`
const v1 = '/sys/fs/cgroup/cpu'
const v2 = '/sys/fs/cgroup'
/** Short, so that whoever waits for the next one waits briefly. */
const periodMicros = 20_000

/** Parts of one core for processes, by control groups. Only root may. */
export class CoreShares {
  readonly #made: string[] = []

  /** All threads of the process together get this part of a core, and no more. False: it cannot be had here. */
  hold(pid: number, share: number): boolean {
    const quota = Math.round(periodMicros * share)
    const isV1 = existsSync(join(v1, 'cpu.cfs_quota_us'))
    const directory = join(isV1 ? v1 : v2, `${group}-${pid}`)
    try {
      mkdirSync(directory)
      this.#made.push(directory)
      const put = (file: string, value: number | string) => writeFileSync(join(directory, file), String(value))
      if (isV1) put('cpu.cfs_period_us', periodMicros)
      if (isV1) put('cpu.cfs_quota_us', quota)
      else put('cpu.max', `${quota} ${periodMicros}`)
      put('cgroup.procs', pid)
      return true
    } catch {
      return false
    }
  }

  /** When their processes have ended. */
  remove(): void {
    for (const directory of this.#made) rmdirSync(directory)
  }
}
