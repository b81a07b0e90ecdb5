import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import lock from '../../package-lock.json' with { type: 'json' }
import { writeNpmPackage } from '../../scripts/release/npm-package.ts'
import { writeProvenance } from '../../scripts/release/provenance.ts'
import { writeSbom } from '../../scripts/release/sbom.ts'

const seconds = 1_700_000_000

describe('the package for npm', () => {
  let directory: string
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'release-files-'))
    writeFileSync(join(directory, 'program'), '#!/bin/sh\necho "ran with $*"\n')
  })
  afterAll(() => rmSync(directory, { recursive: true }))

  const write = (platform: string) =>
    writeNpmPackage({
      ...{ executable: join(directory, 'program'), version: '1.2.3', platform, seconds, level: 1 },
      ...{ description: 'A gateway', license: 'Apache-2.0' },
    })
  it('has the same bytes twice', async () => {
    expect((await write('linux-x64')).equals(await write('linux-x64'))).toBe(true)
  })

  it('installs the program under its name', async () => {
    const file = join(directory, 'spgw.tgz')
    writeFileSync(file, await write(`${process.platform}-${process.arch}`))
    const words = ['install', '--offline', '--no-audit', '--no-fund', '--prefix', directory, file]
    expect(spawnSync('npm', words, { cwd: directory, encoding: 'utf8' })).toMatchObject({ status: 0 })
    const { stdout } = spawnSync(join(directory, 'node_modules/.bin/spgw'), ['serve'], { encoding: 'utf8' })
    expect(stdout).toBe('ran with serve\n')
  })

  it('says which platform it is for, so that npm refuses it on another', async () => {
    const archive = gunzipSync(await write('linux-arm64')).toString('latin1')
    expect(archive).toContain('"os": [\n    "linux"\n  ],\n  "cpu": [\n    "arm64"\n  ]')
  })
})

describe('the SBOM', () => {
  const { version } = lock.packages['node_modules/undici']
  const notices = [
    { name: 'spgw', version: '1.2.3', license: 'Apache-2.0' },
    { name: 'Node.js', version: '26.0.0', license: 'MIT' },
    { name: 'undici', version, license: 'MIT' },
    { name: '@scope/unknown', version: '9.9.9', license: 'ISC' },
  ]
  const write = (sha256 = 'ab') =>
    writeSbom({
      ...{ notices, sha256, platform: 'linux-x64', architecture: 'amd64', seconds },
      debian: [{ name: 'libstdc++6', version: '12.2.0-14+deb12u1' }],
    })

  it('names each part by its package URL, and npm’s by their hash', () => {
    const { metadata, components, dependencies } = JSON.parse(write())
    expect(metadata.component).toMatchObject({ purl: 'pkg:npm/spgw@1.2.3', hashes: [{ content: 'ab' }] })
    const purls = components.map(({ purl }: { purl: string }) => purl)
    expect(purls).toEqual([
      'pkg:generic/nodejs@26.0.0',
      `pkg:npm/undici@${version}`,
      'pkg:npm/%40scope/unknown@9.9.9',
      'pkg:deb/debian/libstdc++6@12.2.0-14%2Bdeb12u1?arch=amd64',
    ])
    expect(dependencies).toEqual([{ ref: 'pkg:npm/spgw@1.2.3', dependsOn: purls }])
    const [node, undici, unknown] = components
    expect([node.hashes, unknown.hashes]).toEqual([undefined, undefined])
    expect(undici.hashes[0].content).toMatch(/^[0-9a-f]{128}$/)
    expect(undici.licenses).toEqual([{ expression: 'MIT' }])
  })

  it('has a serial number of its own for each content', () => {
    expect(write()).toBe(write())
    const serials = [write('ab'), write('cd')].map((text) => JSON.parse(text).serialNumber)
    expect(serials[0]).not.toBe(serials[1])
    for (const serial of serials)
      expect(serial).toMatch(/^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/)
  })
})

describe('the provenance', () => {
  const options = {
    ...{ files: [{ name: 'spgw.tgz', sha256: 'ab' }], platform: 'linux-arm64', lockSha256: 'cd', node: '26.0.0' },
    ...{ seconds, revision: 'f00', changed: false },
  }

  it('names the files, the commit and the command', () => {
    const { subject, predicate } = JSON.parse(writeProvenance(options))
    expect(subject).toEqual([{ name: 'spgw.tgz', digest: { sha256: 'ab' } }])
    const { externalParameters, resolvedDependencies } = predicate.buildDefinition
    expect(externalParameters.command).toBe('npm run release -- --platform linux-arm64')
    expect(resolvedDependencies[0].digest).toEqual({ gitCommit: 'f00' })
  })

  it('names no commit where none is known, and says what is in none', () => {
    const { buildDefinition } = JSON.parse(writeProvenance({ ...options, revision: null, changed: true })).predicate
    expect(buildDefinition.resolvedDependencies).toHaveLength(1)
    expect(buildDefinition.internalParameters.uncommittedChanges).toBe(true)
  })
})
