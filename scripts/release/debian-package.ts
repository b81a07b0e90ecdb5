import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { listManualFiles } from './manual-files.ts'
import { type TarEntry, withDirectories, writeTar } from './tar.ts'

const root = join(import.meta.dirname, '../..')
const conffile = '/etc/default/spgw'

export interface DebianPackageOptions {
  executable: string
  version: string
  /** As Debian names it: `amd64`, `arm64`. */
  architecture: string
  /** The time of everything in it. */
  seconds: number
  /** How hard gzip tries, from 1 to 9. */
  level?: number
}

/**
 * A package for Debian and Ubuntu (deb(5)): the executable, its manual pages and completions, its systemd unit and a file for
 * settings in variables. It makes the user `spgw`, and leaves the data directory alone when it is removed, even when it is
 * purged.
 */
export async function writeDebianPackage(options: DebianPackageOptions): Promise<Buffer> {
  const { seconds } = options
  const files = withDirectories(await listFiles(options))
  const size = files.reduce((sum, { bytes }) => sum + (bytes?.length ?? 0), 0)
  const control = [
    file('control', describe(options, Math.ceil(size / 1024))),
    file('conffiles', `${conffile}\n`),
    ...Object.entries(scripts).map(([name, text]) => file(name, text, 0o755)),
  ]
  const pack = (entries: readonly TarEntry[]) =>
    gzipSync(writeTar(entries.map(below), seconds), { level: options.level ?? 6 })
  return writeAr(
    [
      ['debian-binary', Buffer.from('2.0\n')],
      ['control.tar.gz', pack(control)],
      ['data.tar.gz', pack(files)],
    ],
    seconds,
  )
}

/** dpkg wants every path to begin so. */
function below(entry: TarEntry): TarEntry {
  return { ...entry, path: `./${entry.path}` }
}

function file(path: string, text: string, mode = 0o644): TarEntry {
  return { path, kind: 'file', mode, bytes: Buffer.from(text) }
}

async function listFiles({ executable, version }: DebianPackageOptions): Promise<TarEntry[]> {
  const read = (path: string) => readFile(join(root, path), 'utf8')
  const unit = (await read('examples/systemd/spgw.service'))
    .replace('ExecStart=/usr/local/bin/spgw', `EnvironmentFile=-${conffile}\nExecStart=/usr/bin/spgw`)
    // Its head tells how to install what this package has installed.
    .replace(/^(#.*\n)+/, '')
  return [
    { path: 'usr/bin/spgw', kind: 'file', mode: 0o755, bytes: await readFile(executable) },
    file('usr/lib/systemd/system/spgw.service', unit),
    // It may come to hold passwords; systemd reads it as root.
    file(conffile.slice(1), defaults, 0o600),
    file('usr/share/doc/spgw/copyright', await read('LICENSE')),
    file('usr/share/doc/spgw/config.example.yaml', await read('config.example.yaml')),
    ...listManualFiles(version),
  ]
}

const defaults = `# Settings of the gateway, as variables: gateway.listen is SPGW_GATEWAY_LISTEN, and so on. A change takes effect with
# \`systemctl restart spgw\`. Settings can also stand in /var/lib/spgw/config.yaml, which is read again on a reload;
# /usr/share/doc/spgw/config.example.yaml lists them all.
#SPGW_GATEWAY_LISTEN=0.0.0.0:8787
`

function describe({ version, architecture }: DebianPackageOptions, kilobytes: number): string {
  return `Package: spgw
Version: ${version}
Architecture: ${architecture}
Maintainer: The spgw authors <spgw@localhost>
Installed-Size: ${kilobytes}
Depends: libc6 (>= 2.28), libstdc++6 (>= 11), libgcc-s1, libatomic1, passwd
Section: net
Priority: optional
Description: self-hosted gateway to model providers
 One address, one set of keys and one record of every request for the
 applications that call OpenAI, Anthropic, Gemini and other models.
`
}

/** Each does nothing with systemd where it does not run, as in a container or while an image is made. */
const scripts = {
  postinst: `#!/bin/sh
set -e
if [ "$1" = configure ]; then
  getent passwd spgw >/dev/null ||
    useradd --system --user-group --home-dir /var/lib/spgw --no-create-home --shell /usr/sbin/nologin spgw
  [ -d /var/lib/spgw ] || install -d -m 0700 -o spgw -g spgw /var/lib/spgw
  if [ -d /run/systemd/system ]; then
    systemctl daemon-reload
    if [ -z "$2" ]; then systemctl enable --now spgw; else systemctl try-restart spgw; fi
  fi
fi
`,
  prerm: `#!/bin/sh
set -e
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then systemctl disable --now spgw; fi
`,
  postrm: `#!/bin/sh
set -e
if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
if [ "$1" = purge ] && [ -d /var/lib/spgw ]; then
  echo "spgw: the data and the machine key are left in /var/lib/spgw; remove that directory yourself." >&2
fi
`,
}

/** The archive of ar(5), with names of at most 16 bytes. */
function writeAr(members: readonly [name: string, bytes: Buffer][], seconds: number): Buffer {
  const parts = members.flatMap(([name, bytes]) => {
    const fields = [name.padEnd(16), String(seconds).padEnd(12), '0     ', '0     ', '100644  ']
    const head = `${fields.join('')}${String(bytes.length).padEnd(10)}\`\n`
    return [Buffer.from(head, 'latin1'), bytes, Buffer.from(bytes.length % 2 === 1 ? '\n' : '')]
  })
  return Buffer.concat([Buffer.from('!<arch>\n'), ...parts])
}
