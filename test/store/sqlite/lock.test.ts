import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startStore } from '../../../src/store/client.ts'
import { lockDatabase } from '../../../src/store/sqlite/lock.ts'
import { StoreRefused } from '../../../src/store/store-error.ts'
import { threadModule } from '../../support/thread-module.ts'
import { startTestStore, storePaths, temporaryDirectory } from '../support.ts'

const holdScript = `
const { lockDatabase } = await import(${JSON.stringify(join(import.meta.dirname, '../../../src/store/sqlite/lock.ts'))})
await lockDatabase({ path: process.argv[1] })
console.log('locked')
setInterval(() => {}, 1000)`

/** Another process that holds the lock until it dies. */
async function holdElsewhere(path: string) {
  const child = spawn(process.execPath, ['-e', holdScript, path], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  const die = async () => {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  return { pid: child.pid, die }
}

describe('the lock of a data directory', () => {
  it.runIf(existsSync('/dev/full'))('says what to do where the disk is full, and lets go', async () => {
    const { databasePath: path } = storePaths(temporaryDirectory())
    const pidPath = join(path, '../spgw.pid')
    symlinkSync('/dev/full', pidPath)
    await expect(lockDatabase({ path })).rejects.toMatchObject({
      name: 'StoreRefused',
      message: expect.stringContaining(`${pidPath}: ENOSPC`),
      hint: expect.stringContaining('Free some space on that disk'),
    })
    rmSync(pidPath)
    ;(await lockDatabase({ path })).release()
  })

  it('is refused with the pid of its holder, and is free when that is dead', async () => {
    const { databasePath: path } = storePaths(temporaryDirectory())
    const holder = await holdElsewhere(path)
    const refused = lockDatabase({ path })
    await expect(refused).rejects.toThrow(StoreRefused)
    await expect(refused).rejects.toThrow(`another spgw (process ${holder.pid}) is using`)
    await holder.die()
    const lock = await lockDatabase({ path })
    expect(readFileSync(join(path, '../spgw.pid'), 'utf8')).toBe(`${process.pid}\n`)
    expect(statSync(join(path, '../spgw.lock')).mode & 0o777).toBe(0o600)
    lock.release()
    ;(await lockDatabase({ path })).release()
  })

  it('is no obstacle when it names a process that lives and is another', async () => {
    const { databasePath: path } = storePaths(temporaryDirectory())
    writeFileSync(join(path, '../spgw.lock'), '')
    writeFileSync(join(path, '../spgw.pid'), `${process.ppid}\n`)
    ;(await lockDatabase({ path })).release()
  })

  it('is taken before anything in the directory is touched', async () => {
    const data = storePaths(temporaryDirectory())
    const first = await startTestStore(data)
    let touched = false
    const start = () => new Worker(threadModule('store-thread'), { workerData: data })
    const refused = startStore(start, async () => {
      touched = true
    })
    await expect(refused).rejects.toThrow(`process ${process.pid}`)
    expect(touched).toBe(false)
    await first.close()
    await (await startTestStore(data)).close()
  })
})
