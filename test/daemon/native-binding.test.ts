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
  const addon = Buffer.from('an addon')

  it('stands under its hash, for its owner only', () => {
    const path = placeAddon(addon, directory)
    expect(readFileSync(path)).toEqual(addon)
    expect(statSync(path).mode & 0o777).toBe(0o500)
    expect(statSync(dirname(path)).mode & 0o777).toBe(0o700)
    expect(placeAddon(Buffer.from('another'), directory)).not.toBe(path)
  })

  it('is left alone when it is whole', () => {
    const path = placeAddon(addon, directory)
    const { ino } = statSync(path)
    expect(placeAddon(addon, directory)).toBe(path)
    expect(statSync(path).ino).toBe(ino)
  })

  it('is replaced before it is loaded when somebody has changed it', () => {
    const path = placeAddon(addon, directory)
    rmSync(path)
    writeFileSync(path, 'something else')
    expect(readFileSync(placeAddon(addon, directory))).toEqual(addon)
    expect(readdirSync(dirname(path))).toHaveLength(1)
  })

  it('is not needed when run from source', () => {
    expect(extractNativeBinding(directory)).toBeUndefined()
    expect(readdirSync(directory)).toEqual([])
  })
})
