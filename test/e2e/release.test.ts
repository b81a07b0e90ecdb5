import { execFile, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { collectDebianFiles } from '../../scripts/release/debian-files.ts'
import { writeDebianPackage } from '../../scripts/release/debian-package.ts'
import { dataDirectory, imageUser, writeImage } from '../../scripts/release/image.ts'
import { version } from '../../src/daemon/version.ts'
import { executable, hasProgram } from '../support/executable.ts'

const options = { executable, version, architecture: 'amd64', seconds: 1_700_000_000, level: 1 }
const isRoot = process.getuid?.() === 0
const canMount = isRoot && hasProgram('unshare') && spawnSync('unshare', ['-m', 'true']).status === 0
const onDebian = hasProgram('dpkg-query') && hasProgram('ldd') && hasProgram('tar')
/** A root of its own, over this machine's: what is installed there is gone afterwards. */
const canInstall = canMount && hasProgram('dpkg')

let directory: string
beforeAll(() => {
  mkdirSync(join(import.meta.dirname, '../../.build'), { recursive: true })
  directory = mkdtempSync(join(import.meta.dirname, '../../.build/release-test-'))
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

async function shell(script: string, ...words: string[]): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)('unshare', ['-m', 'sh', '-euc', script, 'sh', ...words], {
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
  })
  return stdout + stderr
}

/** As a runtime of containers does it: a root that nobody writes to, with a volume, /tmp, /proc and /dev. */
const runImage = `
root=$1; data=$2; user=$3; shift 3
mount --bind "$root" "$root"
mount -t tmpfs -o mode=0700,uid=$user,gid=$user none "$root$data"
mount -t tmpfs -o mode=1777 none "$root/tmp"
"$root/usr/local/bin/spgw" init --data-dir "$root/tmp/key"
chmod 711 "$root/tmp/key"
chown 0:$user "$root/tmp/key/machine.key"
chmod 440 "$root/tmp/key/machine.key"
mount -t proc none "$root/proc"
mount --rbind /dev "$root/dev"
mount -o remount,bind,ro "$root"
enter="/usr/sbin/chroot --userspec=$user:$user $root"
env -i "$@" $enter /usr/local/bin/spgw serve --demo &
process=$!
trap 'kill $process' EXIT
until env -i "$@" $enter /usr/local/bin/spgw health; do kill -0 $process; done
env -i "$@" $enter /usr/local/bin/spgw status --json
if touch "$root/etc/passwd" 2>/dev/null; then exit 1; fi
`

describe.skipIf(!onDebian)('the image (needs Debian’s dpkg-query and ldd)', () => {
  const readBlob = (digest: string) => {
    const bytes = readFileSync(join(directory, 'image/blobs/sha256', digest.replace('sha256:', '')))
    expect(`sha256:${createHash('sha256').update(bytes).digest('hex')}`).toBe(digest)
    return bytes
  }
  let config: {
    config: { User: string; Env: string[]; Healthcheck: { Test: string[]; StartPeriod: number } }
    rootfs: { diff_ids: string[] }
  }
  const root = () => join(directory, 'root')

  beforeAll(async () => {
    const debian = await collectDebianFiles(executable)
    await writeImage(join(directory, 'image'), { ...options, debian, revision: null })
    const index = JSON.parse(readFileSync(join(directory, 'image/index.json'), 'utf8'))
    const manifest = JSON.parse(readBlob(index.manifests[0].digest).toString())
    config = JSON.parse(readBlob(manifest.config.digest).toString())
    mkdirSync(root())
    for (const { digest, size } of manifest.layers) {
      const bytes = readBlob(digest)
      expect(bytes.length).toBe(size)
      const unpacked = spawnSync('tar', ['-xzpf', '-', '-C', root()], { input: bytes })
      expect(unpacked.status, String(unpacked.stderr)).toBe(0)
    }
    expect(config.rootfs.diff_ids).toHaveLength(manifest.layers.length)
  })

  it('runs as a user without a name elsewhere, and asks the gateway itself whether it is well', () => {
    expect(config.config.User).toBe(`${imageUser}:${imageUser}`)
    // Whoever ends what is not healthy lets a migration come to its end.
    expect(config.config.Healthcheck).toMatchObject({ Test: ['CMD', 'spgw', 'health'], StartPeriod: 120e9 })
    expect(readFileSync(join(root(), 'etc/passwd'), 'utf8')).toContain(`spgw:x:${imageUser}:`)
    expect(readFileSync(join(root(), 'etc/ssl/certs/ca-certificates.crt'), 'utf8')).toContain('BEGIN CERTIFICATE')
  })

  it.skipIf(!canMount)('serves from a root that is read-only (needs root and unshare)', async () => {
    for (const name of ['proc', 'dev']) mkdirSync(join(root(), name))
    // A key as Kubernetes mounts it.
    const key = 'SPGW_MACHINE_KEY_FILE=/tmp/key/machine.key'
    const environment = [
      ...config.config.Env,
      key,
      'SPGW_GATEWAY_LISTEN=127.0.0.1:0',
      'SPGW_CONSOLE_LISTEN=127.0.0.1:0',
    ]
    const said = await shell(runImage, root(), dataDirectory, String(imageUser), ...environment)
    expect(said).toMatch(/^ready$/m)
    expect(said).toContain(`"data_directory": "${dataDirectory}"`)
    expect(readFileSync(join(root(), 'etc/passwd'), 'utf8')).toContain('root:x:0:0:')
  })
})

const install = `
top=$1; package=$2
mkdir "$top/up" "$top/work" "$top/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$top/up,workdir=$top/work" "$top/root"
mount -t proc none "$top/root/proc"
cp "$package" "$top/root/tmp/spgw.deb"
inside() { chroot "$top/root" "$@"; }
inside dpkg -i /tmp/spgw.deb
inside dpkg -V spgw
inside dpkg -s spgw
inside getent passwd spgw
inside sh -c 'gzip -dc /usr/share/man/man1/spgw.1.gz | head -n 1'
inside bash -c '. /usr/share/bash-completion/completions/spgw; complete -p spgw'
inside stat -c '%U %a' /var/lib/spgw
inside setpriv --reuid spgw --regid spgw --clear-groups /usr/bin/spgw version
echo '# mine' >> "$top/root/etc/default/spgw"
inside dpkg --force-confold -i /tmp/spgw.deb
inside tail -n 1 /etc/default/spgw
inside dpkg -r spgw
inside sh -c 'test ! -e /usr/bin/spgw && test -e /etc/default/spgw && echo removed'
inside dpkg -P spgw
inside sh -c 'test ! -e /etc/default/spgw && test -d /var/lib/spgw && echo purged'
`

it.skipIf(!canInstall)(
  'the Debian package installs, keeps what was edited, and goes again (needs dpkg, root and unshare)',
  async () => {
    const file = join(directory, 'spgw.deb')
    writeFileSync(file, await writeDebianPackage(options))
    const top = join(directory, 'installed')
    mkdirSync(top)
    const said = await shell(install, top, file)
    expect(said).toContain('Status: install ok installed')
    expect(said).toMatch(/^spgw:x:\d+:\d+::\/var\/lib\/spgw:\/usr\/sbin\/nologin$/m)
    expect(said).toMatch(/^spgw 700$/m)
    expect(said).toContain(`.TH "SPGW" "1" "" "spgw ${version}"`)
    expect(said.split('\n')).toContain(`spgw ${version}`)
    expect(said).toMatch(/^# mine$/m)
    expect(said).toMatch(/^removed$/m)
    expect(said).toMatch(/^purged$/m)
    expect(said).toContain('the machine key are left in /var/lib/spgw')
  },
)
