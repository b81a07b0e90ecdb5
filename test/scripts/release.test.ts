import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { writeDebianPackage } from '../../scripts/release/debian-package.ts'
import { writeImage } from '../../scripts/release/image.ts'
import { withDirectories, writeTar } from '../../scripts/release/tar.ts'
import { hasProgram } from '../support/executable.ts'

let directory: string
let executable: string
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'release-'))
  executable = join(directory, 'spgw')
  writeFileSync(executable, 'a program')
})
afterAll(() => rmSync(directory, { recursive: true }))

const common = () => ({ executable, version: '1.2.3', architecture: 'amd64', seconds: 1_700_000_000 })

describe('an archive', () => {
  const long = `${'deep/'.repeat(25)}file`
  const archive = writeTar(
    withDirectories([
      { path: long, kind: 'file', mode: 0o640, bytes: Buffer.from('inside') },
      { path: 'tmp', kind: 'directory', mode: 0o1777 },
      { path: 'link', kind: 'link', mode: 0o777, target: 'tmp' },
      { path: 'own', kind: 'directory', mode: 0o700, owner: 10001 },
    ]),
    1_700_000_000,
  )

  it.skipIf(!hasProgram('tar'))('is read by tar, with modes, owners and long names (needs tar)', () => {
    const list = spawnSync('tar', ['-tvf', '-', '--numeric-owner', '--utc'], { input: archive, encoding: 'utf8' })
    expect([list.status, list.stderr]).toEqual([0, ''])
    expect(list.stdout).toContain(`-rw-r----- 0/0               6 2023-11-14 22:13 ${long}\n`)
    expect(list.stdout).toMatch(/^drwxrwxrwt 0\/0 .* tmp\/$/m)
    expect(list.stdout).toMatch(/^drwx------ 10001\/10001 .* own\/$/m)
    expect(list.stdout).toMatch(/^lrwxrwxrwx 0\/0 .* link -> tmp$/m)
  })

  it('refuses a name that the format cannot hold', () => {
    const write = () => writeTar([{ path: 'x'.repeat(101), kind: 'file', mode: 0o644 }], 0)
    expect(write).toThrow('is too long for the archive')
  })
})

it('writes the same image twice', async () => {
  const debian = {
    entries: [{ path: 'lib/libc.so.6', kind: 'file' as const, mode: 0o644, bytes: Buffer.from('libc') }],
    packages: [{ name: 'libc6', version: '2.36' }],
  }
  const write = async (name: string) => {
    const image = join(directory, name)
    await writeImage(image, { ...common(), debian, revision: 'abc' })
    return [readFileSync(join(image, 'index.json'), 'utf8'), readdirSync(join(image, 'blobs/sha256')).sort()]
  }
  const first = await write('one')
  expect(await write('two')).toEqual(first)
  expect(JSON.parse(String(first[0])).manifests[0].platform).toEqual({ architecture: 'amd64', os: 'linux' })
  // Configuration, manifest and two layers.
  expect(first[1]).toHaveLength(4)
})

it('writes the same Debian package twice', async () => {
  expect((await writeDebianPackage(common())).equals(await writeDebianPackage(common()))).toBe(true)
})

it.skipIf(!hasProgram('dpkg-deb'))('writes a Debian package that says what it is (needs dpkg-deb)', async () => {
  const file = join(directory, 'spgw.deb')
  writeFileSync(file, await writeDebianPackage(common()))
  const info = spawnSync('dpkg-deb', ['--info', file], { encoding: 'utf8' })
  expect([info.status, info.stderr]).toEqual([0, ''])
  expect(info.stdout).toMatch(/Package: spgw\n Version: 1\.2\.3\n Architecture: amd64\n/)
  const list = spawnSync('dpkg-deb', ['--contents', file], { encoding: 'utf8' })
  for (const path of ['usr/bin/spgw', 'usr/lib/systemd/system/spgw.service', 'etc/default/spgw'])
    expect(list.stdout).toContain(` ./${path}\n`)
  const unit = spawnSync('dpkg-deb', ['--fsys-tarfile', file], { encoding: 'latin1' }).stdout
  expect(unit).toContain('\nEnvironmentFile=-/etc/default/spgw\nExecStart=/usr/bin/spgw serve\n')
})
