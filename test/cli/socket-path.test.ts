import { describe, expect, it } from 'vitest'
import { findSocket, type HostContext, listDataDirectories, startHint } from '../../cli/socket-path.ts'

const linux: HostContext = { environment: {}, home: '/people/ann', platform: 'linux' }
const system = '/var/lib/spgw'
const own = '/people/ann/.local/state/spgw'

function files(...paths: string[]) {
  return filesWith(Object.fromEntries(paths.map((path) => [path, ''])))
}

function filesWith(texts: Record<string, string>) {
  return { exists: (path: string) => path in texts, read: (path: string) => texts[path] ?? null }
}

describe('data directories', () => {
  it('are not guessed where one is named', () => {
    const named = { ...linux, environment: { SPGW_DATA_DIR: '/env' } }
    expect(listDataDirectories('/flag', named)).toEqual(['/flag'])
    expect(listDataDirectories(null, named)).toEqual(['/env'])
  })

  it("are the system's, then the person's own", () => {
    expect(listDataDirectories(null, linux)).toEqual([system, own])
    expect(listDataDirectories(null, { ...linux, environment: { XDG_STATE_HOME: '/state' } })).toEqual([
      system,
      '/state/spgw',
    ])
    expect(listDataDirectories(null, { ...linux, home: null })).toEqual([system])
    const windows: HostContext = { environment: { LOCALAPPDATA: 'C:\\Local' }, home: null, platform: 'win32' }
    expect(listDataDirectories(null, windows)).toEqual(['C:\\Local\\spgw'])
  })
})

describe('the socket', () => {
  it('is the one that is there', () => {
    expect(findSocket(null, linux, files(system, own, `${own}/admin.sock`))).toEqual({
      dataDirectory: own,
      socketPath: `${own}/admin.sock`,
      exists: true,
    })
    expect(findSocket(null, linux, files(`${system}/admin.sock`, `${own}/admin.sock`))?.dataDirectory).toBe(system)
  })

  it('is waited for where its directory is there', () => {
    expect(findSocket(null, linux, files(own))).toMatchObject({ dataDirectory: own, exists: true })
    expect(findSocket(null, linux, files())).toMatchObject({ dataDirectory: own, exists: false })
  })

  it('may stand elsewhere, where admin.path says', () => {
    const noted = filesWith({ '/d': '', '/d/admin.path': '/run/user/1/spgw-ab.sock\n' })
    expect(findSocket('/d', linux, noted)?.socketPath).toBe('/run/user/1/spgw-ab.sock')
    const pipe: HostContext = { environment: {}, home: null, platform: 'win32' }
    const path = '\\\\.\\pipe\\spgw-ab'
    expect(findSocket('C:\\d', pipe, filesWith({ 'C:\\d\\admin.path': path }))?.socketPath).toBe(path)
  })

  it('is nowhere without any directory to look in', () => {
    expect(findSocket(null, { environment: {}, home: null, platform: 'win32' }, files())).toBeNull()
  })
})

describe('a gateway that does not run', () => {
  it('is started where it was looked for, and no other is made', () => {
    expect(startHint(null, own, {})).toBe('Start it: spgw serve')
    expect(startHint('/mnt/my data', '/mnt/my data', {})).toBe("Start it: spgw serve --data-dir '/mnt/my data'")
    const service = 'Start it: sudo systemctl start spgw, or spgw serve --data-dir /var/lib/spgw'
    expect(startHint(null, system, {})).toBe(service)
    // As in a container, where `serve` finds it as well.
    expect(startHint(null, system, { SPGW_DATA_DIR: system })).toBe('Start it: spgw serve')
  })
})
