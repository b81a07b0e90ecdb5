import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { extractNativeBinding, placeAddon } from '../../src/daemon/native-binding.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'native-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

describe('the addon in the data directory', () => {
  const addon = Buffer.alloc(200_000, 'an addon')
  const place = (bytes: Buffer) => placeAddon(() => bytes, createHash('sha256').update(bytes).digest('hex'), directory)

  it('stands under its hash, for its owner only', () => {
    const path = place(addon)
    expect(readFileSync(path)).toEqual(addon)
    expect(statSync(path).mode & 0o777).toBe(0o500)
    expect(statSync(dirname(path)).mode & 0o777).toBe(0o700)
    expect(place(Buffer.from('another'))).not.toBe(path)
  })

  it('is left alone when it is whole', () => {
    const path = place(addon)
    const { ino } = statSync(path)
    expect(place(addon)).toBe(path)
    expect(statSync(path).ino).toBe(ino)
    const unread = () => expect.unreachable('the copy in the executable was read')
    expect(placeAddon(unread, createHash('sha256').update(addon).digest('hex'), directory)).toBe(path)
  })

  it('is replaced before it is loaded when somebody has changed it', () => {
    const path = place(addon)
    rmSync(path)
    writeFileSync(path, 'something else')
    expect(readFileSync(place(addon))).toEqual(addon)
    expect(readdirSync(dirname(path))).toHaveLength(1)
  })

  it('is not needed when run from source', () => {
    expect(extractNativeBinding(directory)).toBeUndefined()
    expect(readdirSync(directory)).toEqual([])
  })
})
