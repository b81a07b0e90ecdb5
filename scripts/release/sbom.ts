import { createHash } from 'node:crypto'
import lock from '../../package-lock.json' with { type: 'json' }
import type { Notice } from '../../src/daemon/commands/licenses-command.ts'
import type { DebianPackage } from './debian-files.ts'

export interface SbomOptions {
  /** Of everything in the executable, spgw itself first, as `spgw licenses` prints them. */
  notices: readonly Pick<Notice, 'name' | 'version' | 'license'>[]
  /** What the image has beside it. */
  debian: readonly DebianPackage[]
  /** Of the executable, in hexadecimal digits. */
  sha256: string
  platform: string
  /** Debian's name of the architecture. */
  architecture: string
  seconds: number
}

/** Packages whose name in the notices is not npm's. */
const others: Readonly<Record<string, string>> = { 'Node.js': 'pkg:generic/nodejs', SQLite: 'pkg:generic/sqlite' }

/**
 * What the executable and the image contain, as CycloneDX 1.6 (https://cyclonedx.org/docs/1.6/json/). The same input is the
 * same bytes: its serial number is a hash of what it lists.
 */
export function writeSbom({ notices, debian, sha256, platform, architecture, seconds }: SbomOptions): string {
  const [product, ...parts] = notices
  if (product === undefined) throw new Error('There are no notices.')
  const components = [
    ...parts.map(describe),
    ...debian.map(({ name, version }) => {
      const purl = `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=${architecture}`
      return { type: 'library', 'bom-ref': purl, name, version, purl }
    }),
  ]
  const purl = `pkg:npm/${product.name}@${product.version}`
  const main = {
    ...{ type: 'application', 'bom-ref': purl, name: product.name, version: product.version, purl },
    ...{ licenses: [{ expression: product.license }], hashes: [{ alg: 'SHA-256', content: sha256 }] },
    properties: [{ name: 'spgw:platform', value: platform }],
  }
  const dependsOn = components.map((component) => component.purl)
  const body = {
    version: 1,
    metadata: { timestamp: new Date(seconds * 1000).toISOString(), component: main },
    ...{ components, dependencies: [{ ref: purl, dependsOn }] },
  }
  const head = {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
  }
  return `${JSON.stringify({ ...head, serialNumber: `urn:uuid:${uuidOf(JSON.stringify(body))}`, ...body }, null, 2)}\n`
}

function describe({ name, version, license }: SbomOptions['notices'][number]) {
  const other = others[name]
  const purl = `${other ?? `pkg:npm/${name.replace('@', '%40')}`}@${version}`
  const hash = other === undefined ? hashOf(name, version) : null
  return {
    ...{ type: 'library', 'bom-ref': purl, name, version, purl, licenses: [{ expression: license }] },
    ...(hash === null ? {} : { hashes: [{ alg: 'SHA-512', content: hash }] }),
  }
}

/** Of the package's archive, as package-lock.json has it; null for what npm did not fetch. */
function hashOf(name: string, version: string): string | null {
  const entries = Object.entries(lock.packages)
  const found = entries.find(([path, entry]) => path.endsWith(`node_modules/${name}`) && entry.version === version)?.[1]
  if (found === undefined || !('integrity' in found)) return null
  return Buffer.from(found.integrity.replace('sha512-', ''), 'base64').toString('hex')
}

/** A UUID of version 8 (RFC 9562): its bits are the maker's own, here of a hash. */
function uuidOf(text: string): string {
  const digits = createHash('sha256').update(text).digest('hex')
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-8${digits.slice(13, 16)}-a${digits.slice(17, 20)}-${digits.slice(20, 32)}`
}
