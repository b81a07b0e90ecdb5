import { createHash } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { DebianFiles } from './debian-files.ts'
import { type TarEntry, withDirectories, writeTar } from './tar.ts'

/** Not a user of any machine: the volume's files belong to this number. */
export const imageUser = 10001
export const dataDirectory = '/var/lib/spgw'
const largestBytes = 150e6

export interface ImageOptions {
  executable: string
  debian: DebianFiles
  version: string
  /** The commit that it is made from; null: not known. */
  revision: string | null
  /** As Go names it: `amd64`, `arm64`. */
  architecture: string
  /** The time of everything in it. */
  seconds: number
  /** How hard gzip tries, from 1 to 9. */
  level?: number
}

interface Blob {
  mediaType: string
  digest: string
  size: number
}

const types = {
  layer: 'application/vnd.oci.image.layer.v1.tar+gzip',
  config: 'application/vnd.oci.image.config.v1+json',
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  index: 'application/vnd.oci.image.index.v1+json',
}

/**
 * Writes an OCI image layout (https://github.com/opencontainers/image-spec, v1.1) with one image: a layer of what Debian has,
 * and one of what spgw is, so that a new version moves the second alone. The same input is the same bytes.
 */
export async function writeImage(directory: string, options: ImageOptions): Promise<void> {
  const blobs = join(directory, 'blobs/sha256')
  await mkdir(blobs, { recursive: true })
  const put = async (mediaType: string, bytes: Buffer): Promise<Blob> => {
    const hash = sha256(bytes)
    await writeFile(join(blobs, hash), bytes)
    return { mediaType, digest: `sha256:${hash}`, size: bytes.length }
  }
  const tars = [systemLayer(options), await programLayer(options)].map((entries) =>
    writeTar(withDirectories(entries), options.seconds),
  )
  const unpacked = tars.reduce((sum, tar) => sum + tar.length, 0)
  if (unpacked > largestBytes) throw new Error(`The image has ${unpacked} bytes; at most ${largestBytes} are allowed.`)
  const layers: Blob[] = []
  for (const tar of tars) layers.push(await put(types.layer, gzipSync(tar, { level: options.level ?? 6 })))
  const diffs = tars.map((tar) => `sha256:${sha256(tar)}`)
  const config = await put(types.config, json(describe(options, diffs)))
  const manifest = await put(types.manifest, json({ schemaVersion: 2, mediaType: types.manifest, config, layers }))
  const platform = { architecture: options.architecture, os: 'linux' }
  const annotations = { 'org.opencontainers.image.ref.name': options.version }
  const index = { schemaVersion: 2, mediaType: types.index, manifests: [{ ...manifest, platform, annotations }] }
  await writeFile(join(directory, 'index.json'), json(index))
  await writeFile(join(directory, 'oci-layout'), json({ imageLayoutVersion: '1.0.0' }))
}

/** No shell, no package manager: what cannot be run needs no update. */
function systemLayer({ debian }: ImageOptions): TarEntry[] {
  const text = (path: string, lines: string): TarEntry => ({
    ...{ path, kind: 'file', mode: 0o644 },
    bytes: Buffer.from(`${lines}\n`),
  })
  return [
    ...debian.entries,
    text(
      'etc/passwd',
      `root:x:0:0:root:/:/nonexistent\nspgw:x:${imageUser}:${imageUser}::${dataDirectory}:/nonexistent`,
    ),
    text('etc/group', `root:x:0:\nspgw:x:${imageUser}:`),
    // Without it glibc asks DNS before it reads /etc/hosts.
    text('etc/nsswitch.conf', 'passwd: files\ngroup: files\nhosts: files dns'),
    { path: 'tmp', kind: 'directory', mode: 0o1777 },
    { path: dataDirectory.slice(1), kind: 'directory', mode: 0o700, owner: imageUser },
  ]
}

async function programLayer({ executable }: ImageOptions): Promise<TarEntry[]> {
  const bytes = await readFile(executable)
  return [{ path: 'usr/local/bin/spgw', kind: 'file', mode: 0o755, bytes }]
}

function describe({ version, revision, architecture, seconds, debian }: ImageOptions, diffs: string[]): object {
  const created = new Date(seconds * 1000).toISOString().replace('.000Z', 'Z')
  const second = 1e9
  return {
    ...{ created, architecture, os: 'linux' },
    config: {
      // By number: who checks that it is not root cannot look a name up.
      User: `${imageUser}:${imageUser}`,
      Env: [
        'PATH=/usr/local/bin',
        `SPGW_DATA_DIR=${dataDirectory}`,
        // For a user number that /etc/passwd does not name, as some clusters give one.
        `HOME=${dataDirectory}`,
        'SPGW_GATEWAY_LISTEN=0.0.0.0:8787',
        'SPGW_CONSOLE_LISTEN=0.0.0.0:8788',
        'SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt',
      ],
      Entrypoint: ['/usr/local/bin/spgw'],
      Cmd: ['serve'],
      WorkingDir: dataDirectory,
      ExposedPorts: { '8787/tcp': {}, '8788/tcp': {} },
      Volumes: { [dataDirectory]: {} },
      StopSignal: 'SIGTERM',
      // Docker's own member, which others pass over.
      // Whoever ends what is not healthy (Swarm, autoheal) lets a migration come to its end.
      Healthcheck: {
        Test: ['CMD', 'spgw', 'health'],
        Interval: 10 * second,
        Timeout: 5 * second,
        StartPeriod: 120 * second,
      },
      Labels: {
        'org.opencontainers.image.title': 'spgw',
        'org.opencontainers.image.version': version,
        'org.opencontainers.image.licenses': 'Apache-2.0',
        ...(revision === null ? {} : { 'org.opencontainers.image.revision': revision }),
      },
    },
    rootfs: { type: 'layers', diff_ids: diffs },
    history: [
      { created, created_by: `debian: ${debian.packages.map(({ name, version }) => `${name} ${version}`).join(', ')}` },
      { created, created_by: `spgw ${version}` },
    ],
  }
}

function json(value: object): Buffer {
  return Buffer.from(`${JSON.stringify(value, null, 2)}\n`)
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
