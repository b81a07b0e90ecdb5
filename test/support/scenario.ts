import { once } from 'node:events'
import { appendFileSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { laneNames } from '../../src/core/lane.ts'
import { executable } from './executable.ts'
import { type MockProvider, startMockProvider } from './mock-provider.ts'
import type { Expectation, Scenario, Step } from './scenario-format.ts'
import { type Outcome, ScenarioShell } from './scenario-shell.ts'
import { mintCredential } from './stage.ts'

/**
 * Plays a scenario with the packaged executable as `spgw`, in a fresh home, with nothing of the developer's environment
 * and every listener on a port that the system chooses. Throws at the first step that is not as expected. Whatever
 * the scenario is about, no provider credential may stand in what was printed or in any file of the home.
 */
export async function playScenario(scenario: Scenario): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'scenario-'))
  const home = join(directory, 'home')
  await Promise.all([home, join(directory, 'bin')].map((path) => mkdir(path)))
  await symlink(executable, join(directory, 'bin/spgw'))
  const receiver = scenario.mocks.includes('receiver') ? await startReceiver(join(home, 'received.jsonl')) : null
  const mocks = await startMocks(scenario)
  const credentials = mocks.flatMap((mock) => [...mock.credentials])
  const shell = new ScenarioShell(directory, home, {
    PATH: `${join(directory, 'bin')}:/usr/local/bin:/usr/bin:/bin`,
    HOME: home,
    LC_ALL: 'C.UTF-8',
    SPGW_GATEWAY_LISTEN: '127.0.0.1:0',
    SPGW_CONSOLE_LISTEN: '127.0.0.1:0',
    ...describeMocks(mocks),
    ...(receiver === null ? {} : { RECEIVER_URL: receiver.url }),
  })
  try {
    for (const step of scenario.steps) await playStep(shell, step)
    await expectNowhere(directory, credentials)
  } finally {
    await shell.end()
    await Promise.all([...mocks, ...(receiver === null ? [] : [receiver])].map((each) => each.close()))
    await rm(directory, { recursive: true, force: true })
  }
  for (const mock of mocks) mock.assertClean()
}

async function startMocks({ mocks }: Scenario): Promise<MockProvider[]> {
  return Promise.all(
    mocks
      .filter((name) => name !== 'receiver')
      .map((name) => {
        const lane = laneNames.find((known) => known === name)
        if (lane === undefined) throw new Error(`no mock is called ${name}`)
        return startMockProvider(lane, mintCredential(lane))
      }),
  )
}

/** Takes whatever is posted, and writes `{path, headers, body}` of each into a file, a line each. */
async function startReceiver(file: string) {
  const server = http.createServer(async (request, response) => {
    const pieces: Buffer[] = []
    for await (const piece of request as AsyncIterable<Buffer>) pieces.push(piece)
    const bytes = Buffer.concat(pieces)
    const { url, headers } = request
    const text = headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes
    appendFileSync(file, `${JSON.stringify({ path: url, headers, body: JSON.parse(text.toString()) as unknown })}\n`)
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const close = async () => {
    server.closeAllConnections()
    server.close()
  }
  return { url: `http://127.0.0.1:${port}`, close }
}

/** `$OPENAI_BASE_URL` and so on; the second credential is right as well, for rotations. */
function describeMocks(mocks: MockProvider[]): Record<string, string> {
  const variables = mocks.flatMap((mock): [string, string][] => {
    const name = mock.format.name.toUpperCase()
    const [credential = ''] = mock.credentials
    const second = mintCredential(mock.format.name)
    mock.credentials.add(second)
    return [
      [`${name}_BASE_URL`, mock.baseUrl],
      [`${name}_CREDENTIAL`, credential],
      [`${name}_SECOND_CREDENTIAL`, second],
    ]
  })
  return Object.fromEntries(variables)
}

async function playStep(shell: ScenarioShell, step: Step): Promise<void> {
  const outcome = await shell.run(step.command)
  if (outcome.status !== step.exit) throw fail(step, outcome, step.line, `exit ${step.exit}`)
  for (const expectation of step.expectations) {
    const wanted = await shell.expand(expectation.text)
    if (!holds(expectation, wanted, outcome)) {
      throw fail(step, outcome, expectation.line, `${expectation.stream} ${expectation.verb} ${wanted}`)
    }
  }
}

function holds({ stream, verb }: Expectation, wanted: string, outcome: Outcome): boolean {
  const got = outcome[stream]
  switch (verb) {
    case 'has':
      return got.includes(wanted)
    case 'lacks':
      return !got.includes(wanted)
    case 'is':
      return got.replace(/\n$/, '') === wanted
    case 'json':
      return isJson(got)
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function fail(step: Step, { status, out, err }: Outcome, line: number, wanted: string): Error {
  return new Error(
    `line ${line}: expected ${wanted}\n$ ${step.command}\nexit ${status}\nstdout: ${out}\nstderr: ${err}`,
  )
}

async function expectNowhere(directory: string, credentials: readonly string[]): Promise<void> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  for (const entry of entries.filter((each) => each.isFile())) {
    const path = join(entry.parentPath, entry.name)
    const bytes = await readFile(path)
    if (credentials.some((credential) => bytes.includes(credential))) {
      throw new Error(`a provider credential stands in ${path}`)
    }
  }
}
