import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findDataDirectory } from '../../src/config/data-directory.ts'
import { SettingsRefused } from '../../src/config/settings-refused.ts'
import { fitSocketPath, longestSocketPath, noteSocketPath } from '../../src/config/socket-path.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'places-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

describe('data directory', () => {
  const all = () => ({ SPGW_DATA_DIR: '/b', STATE_DIRECTORY: '/c:/d', XDG_STATE_HOME: '/e', HOME: directory })

  it('is the first that is named, from the flag to the home', () => {
    expect(findDataDirectory('/a', all())).toBe('/a')
    expect(findDataDirectory(undefined, all())).toBe('/b')
    expect(findDataDirectory(undefined, { ...all(), SPGW_DATA_DIR: '' })).toBe('/c')
    expect(findDataDirectory(undefined, { XDG_STATE_HOME: '/e', HOME: directory })).toBe('/e/spgw')
    expect(findDataDirectory(undefined, { XDG_STATE_HOME: 'relative', HOME: directory })).toBe(
      `${directory}/.local/state/spgw`,
    )
  })

  it.each([{}, { HOME: '' }, { HOME: '/nonexistent' }])('is refused without a home: %j', (environment) => {
    expect(() => findDataDirectory(undefined, environment)).toThrow(SettingsRefused)
  })
})

describe('socket path', () => {
  const long = `/${'d'.repeat(longestSocketPath)}/admin.sock`

  it('stays where it fits, to the byte', () => {
    const exact = `/${'d'.repeat(longestSocketPath - 1)}`
    expect(fitSocketPath(exact, 'x', { XDG_RUNTIME_DIR: '/run' })).toBe(exact)
    expect(fitSocketPath(`${exact}d`, 'x', { XDG_RUNTIME_DIR: '/run' })).not.toBe(`${exact}d`)
    // Sixty characters, but 120 bytes.
    expect(fitSocketPath('é'.repeat(60), 'x', { XDG_RUNTIME_DIR: '/run' })).toMatch(/^\/run\/spgw-/)
  })

  it('moves to the runtime directory, each data directory to its own', () => {
    const short = fitSocketPath(long, 'x', { XDG_RUNTIME_DIR: '/run/user/1' })
    expect(short).toMatch(/^\/run\/user\/1\/spgw-[0-9a-f]{16}\.sock$/)
    expect(fitSocketPath(`${long}2`, 'x', { XDG_RUNTIME_DIR: '/run/user/1' })).not.toBe(short)
  })

  it('is refused where there is no runtime directory', () => {
    expect(() => fitSocketPath(long, 'admin.socket', {})).toThrow(/too long for a socket/)
  })

  it('is noted in the data directory only while it lies elsewhere', () => {
    const note = join(directory, 'admin.path')
    noteSocketPath({ dataDirectory: directory, admin: { socket: '/run/spgw.sock', socketGroup: null } })
    expect(readFileSync(note, 'utf8')).toBe('/run/spgw.sock\n')
    noteSocketPath({ dataDirectory: directory, admin: { socket: join(directory, 'admin.sock'), socketGroup: null } })
    expect(existsSync(note)).toBe(false)
  })
})
