/**
 * `node scripts/setup.mjs COMMAND` installs the packages of the lock file if they are missing, then runs the shell command
 * under the pinned Node. It is plain JavaScript and imports nothing of ours, because an older Node (20) has to run it on a
 * fresh clone.
 */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const binaries = join(root, 'node_modules/.bin')
const oldestMajor = 26

if (!isInstalled()) install()
const node = findNode()
const [command = '', ...more] = process.argv.slice(2)
if (command !== '') run([command, ...more.map(quote)].join(' '))

/** npm writes this copy of the lock file only when an installation has finished. */
function isInstalled() {
  const installed = readPackages('node_modules/.package-lock.json')
  const locked = readPackages('package-lock.json')
  return Object.entries(locked).every(([path, entry]) => {
    const found = installed[path]
    // The lock file also names packages for other platforms, which are not installed.
    if (path === '' || (found === undefined && entry.optional)) return true
    return found?.version === entry.version && found?.integrity === entry.integrity
  })
}

function readPackages(path) {
  const file = join(root, path)
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).packages : {}
}

function install() {
  process.stderr.write('Installing what package-lock.json names …\n')
  // The npm that runs this script, if one does. Its warnings about the older Node help nobody.
  const npm = process.env.npm_execpath?.endsWith('.js') ? [process.execPath, process.env.npm_execpath] : ['npm']
  const [program = 'npm', ...first] = npm
  // Not `npm ci`: it refuses a lock without an entry for each platform's build of a tool, and registries do not hold all.
  const options = ['install', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  const { status } = spawnSync(program, [...first, ...options], { cwd: root, stdio: ['ignore', 2, 2] })
  if (status !== 0) process.exit(status ?? 1)
  if (isInstalled()) return
  process.stderr.write(
    'npm installed other versions than package-lock.json names; remove node_modules and run this again.\n',
  )
  process.exit(1)
}

/** The pinned Node, or the machine's own if npm has none for this platform and the machine's is new enough. */
function findNode() {
  const found = [join(binaries, 'node'), process.execPath].find((candidate) => majorOf(candidate) >= oldestMajor)
  if (found !== undefined) return found
  process.stderr.write(
    `No npm package of Node ${oldestMajor} runs on this machine (${process.platform}-${process.arch}), and its own is ` +
      `${process.version}. Install Node ${oldestMajor} or newer (nodejs.org), put it first on the PATH, and run this again.\n`,
  )
  return process.exit(1)
}

function majorOf(candidate) {
  const { stdout, status } = spawnSync(candidate, ['--version'], { encoding: 'utf8' })
  return status === 0 ? Number(/^v(\d+)/.exec(stdout)?.[1]) : 0
}

/**
 * Uses a new shell, because the shell that npm started has already looked up `node` and remembers the machine's.
 * Waits for the command whatever signal arrives, so that a gateway that is draining keeps its terminal.
 */
function run(line) {
  const path = [binaries, dirname(node), process.env.PATH].join(delimiter)
  const child = spawn(line, { cwd: root, shell: true, stdio: 'inherit', env: { ...process.env, PATH: path } })
  process.on('SIGINT', () => {})
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('exit', (status, signal) => {
    process.exitCode = status ?? (signal === 'SIGINT' ? 130 : 1)
  })
}

function quote(word) {
  return `'${word.replaceAll("'", "'\\''")}'`
}
