import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
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

  it.each([{}, { HOME: '' }, { HOME: '/nonexistent' }, { HOME: '.' }])(
    'is refused without a home, and says what to do: %j',
    (environment) => {
      const find = () => findDataDirectory(undefined, environment)
      expect(find).toThrow(SettingsRefused)
      expect(find).toThrow(/^--data-dir: .*: --data-dir or SPGW_DATA_DIR$/)
    },
  )
})

describe('socket path', () => {
  const long = `/${'d'.repeat(longestSocketPath)}/admin.sock`

  it('stays where it fits, to the byte, on macOS too', () => {
    expect(longestSocketPath).toBe(103)
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

  it('fits into the runtime directory to the byte', () => {
    const file = '/spgw-0123456789abcdef.sock'
    const fitting = `/${'r'.repeat(longestSocketPath - file.length - 1)}`
    expect(fitSocketPath(long, 'x', { XDG_RUNTIME_DIR: fitting })).toHaveLength(longestSocketPath)
    expect(() => fitSocketPath(long, 'x', { XDG_RUNTIME_DIR: `${fitting}r` })).toThrow(SettingsRefused)
  })

  it.each([
    [{}, 'is not set'],
    [{ XDG_RUNTIME_DIR: '' }, 'is not set'],
    [{ XDG_RUNTIME_DIR: 'run' }, 'is not an absolute path'],
    [{ XDG_RUNTIME_DIR: long }, 'is too long as well'],
  ])('is refused without a usable runtime directory, and says why: %j', (environment, why) => {
    expect(() => fitSocketPath(long, 'admin.socket', environment)).toThrow(
      `admin.socket: ${long} is too long for a socket (103 bytes), and XDG_RUNTIME_DIR ${why}; choose`,
    )
  })

  it('is noted in the data directory only while it lies elsewhere', () => {
    const note = join(directory, 'admin.path')
    noteSocketPath({ dataDirectory: directory, admin: { socket: '/run/spgw.sock', socketGroup: null } })
    expect(readFileSync(note, 'utf8')).toBe('/run/spgw.sock\n')
    noteSocketPath({ dataDirectory: directory, admin: { socket: join(directory, 'admin.sock'), socketGroup: null } })
    expect(existsSync(note)).toBe(false)
  })

  it('is noted before anything else is there, for the user only', () => {
    const dataDirectory = join(directory, 'new', 'data')
    // Nothing to take back, and nothing to take it from.
    noteSocketPath({ dataDirectory, admin: { socket: join(dataDirectory, 'admin.sock'), socketGroup: null } })
    noteSocketPath({ dataDirectory, admin: { socket: '/run/spgw.sock', socketGroup: null } })
    expect(statSync(dataDirectory).mode & 0o777).toBe(0o700)
    expect(statSync(join(dataDirectory, 'admin.path')).mode & 0o777).toBe(0o600)
  })
})
