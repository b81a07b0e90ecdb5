import { existsSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { withReserve } from '../../src/admin/handlers/with-reserve.ts'
import { StoreDegraded } from '../../src/store/store-error.ts'
import { temporaryDirectory } from './gateway.ts'

const reserveBytes = 3_000_000

function start(failures: string[]) {
  const dataDirectory = temporaryDirectory()
  const reserve = join(dataDirectory, 'reserve')
  writeFileSync(reserve, '')
  truncateSync(reserve, reserveBytes)
  const change = async () => {
    const failure = failures.shift()
    if (failure !== undefined) throw new StoreDegraded(failure)
    return 'changed'
  }
  const context = { runtime: { dataDirectory } } as Parameters<typeof withReserve>[0]
  return { dataDirectory, left: () => statSync(reserve).size, changed: withReserve(context, change) }
}

it.each(['the disk is full (SQLITE_FULL)', 'the disk is full, or a quota (SQLITE_IOERR_SHMSIZE)'])(
  'a change takes its room from the reserve where %s',
  async (failure) => {
    const { left, changed } = start([failure])
    expect(await changed).toBe('changed')
    expect(left()).toBe(reserveBytes - 1024 * 1024)
  },
)

const failed = 'the disk failed to read or write the database (SQLITE_IOERR_WRITE)'

it.runIf(existsSync('/dev/full'))('so does one where a quota is used up, which SQLite does not know', async () => {
  const dataDirectory = temporaryDirectory()
  writeFileSync(join(dataDirectory, 'reserve'), Buffer.alloc(reserveBytes))
  // The next file that is written there finds no room.
  symlinkSync('/dev/full', join(dataDirectory, 'reserve.probe'))
  let tries = 0
  const change = async () => {
    if (++tries === 1) throw new StoreDegraded(failed)
    return 'changed'
  }
  expect(await withReserve({ runtime: { dataDirectory } } as Parameters<typeof withReserve>[0], change)).toBe('changed')
  expect(statSync(join(dataDirectory, 'reserve')).size).toBe(reserveBytes - 1024 * 1024)
})

it('a disk that fails to write takes nothing of it', async () => {
  const { dataDirectory, left, changed } = start([failed])
  await expect(changed).rejects.toThrow('SQLITE_IOERR_WRITE')
  expect(left()).toBe(reserveBytes)
  expect(existsSync(join(dataDirectory, 'reserve.probe'))).toBe(false)
})
