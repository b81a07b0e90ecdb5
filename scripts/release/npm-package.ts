import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { type TarEntry, withDirectories, writeTar } from './tar.ts'

export interface NpmPackageOptions {
  executable: string
  version: string
  description: string
  license: string
  /** `linux-x64`: npm refuses to install it on another one. */
  platform: string
  /** The time of everything in it. */
  seconds: number
  /** How hard gzip tries, from 1 to 9. */
  level?: number
}

/**
 * A package as `npm pack` makes them: `npx ./FILE.tgz serve --demo` runs it, on any Node, since the executable has its
 * own. The same input is the same bytes.
 */
export async function writeNpmPackage(options: NpmPackageOptions): Promise<Buffer> {
  const { version, description, license, platform, seconds } = options
  const [os, cpu] = platform.split('-')
  const manifest = { name: 'spgw', version, description, license, os: [os], cpu: [cpu], bin: { spgw: 'spgw' } }
  const readme = `# spgw\n\n${description}.\n\n    npx spgw serve --demo\n\n\`spgw licenses\` prints the notices of what is inside.\n`
  const file = (path: string, bytes: Uint8Array, mode = 0o644): TarEntry => ({
    ...{ path: `package/${path}`, kind: 'file' },
    ...{ mode, bytes },
  })
  const entries = [
    file('package.json', Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`)),
    file('LICENSE', await readFile(join(import.meta.dirname, '../../LICENSE'))),
    file('README.md', Buffer.from(readme)),
    file('spgw', await readFile(options.executable), 0o755),
  ]
  return gzipSync(writeTar(withDirectories(entries), seconds), { level: options.level ?? 6 })
}
