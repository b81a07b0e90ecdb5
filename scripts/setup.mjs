/**
 * `node scripts/setup.mjs COMMAND`: installs what the lock file names where that is not done, then runs the shell command
 * under the pinned Node. Plain JavaScript without imports of ours: it is the one script that an older Node (20) runs,
 * on a clone that has nothing yet.
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

/** npm leaves a copy of the lock behind when, and only when, an installation was finished. */
function isInstalled() {
  const installed = readPackages('node_modules/.package-lock.json')
  const locked = readPackages('package-lock.json')
  return Object.entries(locked).every(([path, entry]) => {
    const found = installed[path]
    // Packages for other platforms are in the lock, and are not installed.
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
  // The npm that runs us, where it does; its warnings about the older Node are of no use to anybody.
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

/** The pinned Node; on a platform for which there is no package of it, the machine's own where it is new enough. */
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
 * Through a shell of its own: the one that npm started has looked `node` up already, and remembers the machine's.
 * Waits for the command however it is ended, so that a gateway which drains keeps its terminal.
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
