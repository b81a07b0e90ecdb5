import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { startGateway, type TestGateway } from '../test/support/gateway.ts'
import { packageExecutable } from './package.ts'
import { readFlags } from './read-flags.ts'

const run = promisify(execFile)
const scratch = join(import.meta.dirname, '../.build')
/** What the executable needs of Debian, as the image has it. */
const libraries = ['libc6', 'libgcc-s1', 'libstdc++6', 'libatomic1']

const help = `npm run arm64 [-- --executable FILE] [--root DIR]

Makes dist/spgw-linux-arm64 on a machine with x64, and runs it under QEMU: version, a gateway, a whole answer and a stream,
their records, health and doctor, a stop, and a second start on the same data. Needs Debian's qemu-user and apt-get.

  --executable FILE   this one, instead of packaging the tree
  --root DIR          a directory with Debian's libraries for arm64, instead of getting them
`

const { values } = readFlags(help, { options: { executable: { type: 'string' }, root: { type: 'string' } } })
const report = (line: string): void => void process.stderr.write(`${line}\n`)
const executable =
  values.executable ??
  (await packageExecutable(join(import.meta.dirname, '../dist/spgw-linux-arm64'), { platform: 'linux-arm64' }, report))
const emulator = ['qemu-aarch64', '-L', resolve(values.root ?? (await libraryRoot()))]
const problems: string[] = []

/** Debian's libraries for arm64, kept in the project's own scratch: the machine's packages stay as they are. */
async function libraryRoot(): Promise<string> {
  const kept = join(scratch, 'arm64-root')
  if (await stat(kept).catch(() => null)) return kept
  report(`Getting ${libraries.join(', ')} for arm64 …`)
  await mkdir(scratch, { recursive: true })
  const work = await mkdtemp(join(scratch, 'arm64-'))
  try {
    for (const each of ['lists/partial', 'cache/archives/partial', 'debs', 'root'])
      await mkdir(join(work, each), { recursive: true })
    const apart = {
      'APT::Architecture': 'arm64',
      'APT::Architectures': 'arm64',
      'Dir::State::lists': join(work, 'lists'),
    }
    const options = Object.entries({ ...apart, 'Dir::Cache': join(work, 'cache'), 'APT::Sandbox::User': 'root' })
    const flags = options.flatMap(([name, value]) => ['-o', `${name}=${value}`])
    const debs = join(work, 'debs')
    await run('apt-get', [...flags, 'update'])
    await run('apt-get', [...flags, 'download', ...libraries], { cwd: debs })
    for (const deb of await readdir(debs)) await run('dpkg-deb', ['-x', join(debs, deb), join(work, 'root')])
    await rename(join(work, 'root'), kept)
    return kept
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

function expect(what: string, holds: boolean, seen = ''): void {
  report(`${holds ? 'works' : 'FAILS'}: ${what}${holds ? '' : `: ${seen}`}`)
  if (!holds) problems.push(what)
}

async function emulated(args: string[]): Promise<string> {
  const [command = '', ...leading] = emulator
  return await run(command, [...leading, executable, ...args], { env: { PATH: process.env.PATH, NO_COLOR: '1' } }).then(
    ({ stdout, stderr }) => stdout + stderr,
    (error: unknown) => `ended with ${String(error)}`,
  )
}

async function start(dataDirectory: string): Promise<TestGateway> {
  const program = { command: executable, leading: [] }
  return await startGateway({ dataDirectory, program, launcher: emulator, flags: ['--demo'] })
}

async function ask(gateway: TestGateway, key: string, stream: boolean): Promise<{ id: string; text: string }> {
  const response = await fetch(`${gateway.baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'demo', stream, messages: [{ role: 'user', content: 'hello' }] }),
  })
  return { id: response.headers.get('x-sp-request-id') ?? '', text: `${response.status} ${await response.text()}` }
}

async function look(gateway: TestGateway): Promise<string[]> {
  const { key } = await gateway.createKey('emulated')
  const [whole, stream] = [await ask(gateway, key, false), await ask(gateway, key, true)]
  expect('a whole answer', /^200 .*"choices"/s.test(whole.text), whole.text)
  expect('a stream', /^200 data: .*\[DONE\]\s*$/s.test(stream.text), stream.text)
  for (const { id } of [whole, stream]) {
    const { state, status, tokens } = await gateway.record(id)
    expect(`the record of ${id}`, state === 'settled' && status === 200 && tokens !== null, `${state} ${status}`)
  }
  const directory = ['--data-dir', gateway.dataDirectory]
  const health = await emulated(['health', ...directory])
  expect('spgw health', !health.startsWith('ended'), health)
  const doctor = await emulated(['doctor', ...directory])
  expect('spgw doctor', !doctor.startsWith('ended'), doctor)
  return [whole.id, stream.id]
}

const version = await emulated(['version'])
expect('spgw version', /^spgw \d/.test(version), version)
const dataDirectory = await mkdtemp(join(tmpdir(), 'spgw-arm64-'))
try {
  const begun = performance.now()
  const first = await start(dataDirectory)
  report(`serves after ${((performance.now() - begun) / 1000).toFixed(1)} s`)
  const ids = await look(first)
  const status = await first.kill('SIGTERM')
  expect('a stop', status === 0, `status ${status}`)
  const second = await start(dataDirectory)
  for (const id of ids) expect(`${id} after a restart`, (await second.record(id)).state === 'settled')
  await second.stop()
} finally {
  await rm(dataDirectory, { recursive: true, force: true })
}
process.stdout.write(problems.length === 0 ? 'linux-arm64 works under QEMU\n' : `${problems.length} do not work\n`)
process.exit(problems.length === 0 ? 0 : 1)
