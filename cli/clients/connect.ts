import { valueAt } from '../../src/admin/contract/show-value.ts'
import type { LaneName } from '../../src/core/lane.ts'
import { keyForm } from '../../src/core/secrets/gateway-key.ts'
import { CommandFault, exitStatus, reportFault, usageFault } from '../fault.ts'
import type { GlobalOptions } from '../global-options.ts'
import { canAsk, type Io } from '../io.ts'
import type { GatewayClient } from '../operation.ts'
import { isLoopback } from '../remote.ts'
import { changeFiles, placeholder, printFiles } from './apply-settings.ts'
import { type ClientName, clientNames } from './client-names.ts'
import { clients, type UsableModel } from './clients.ts'
import { readListedModels, takesModel } from './listed-models.ts'
import { chooseModels, type KeyPlace, listUsableModels, misspeltNote, unlistedModel } from './usable-models.ts'

/** `spgw connect CLIENT`. Resolves to the exit status. */
export async function connectClient(
  options: Record<string, unknown>,
  io: Io,
  settings: GlobalOptions,
  gateway: () => Promise<GatewayClient>,
): Promise<number> {
  const name = clientNames.find((known) => known === options.client) ?? 'openai-env'
  const client = clients[name]
  const write = options.write === true
  const source = readSource(options, write)
  const model = readModel(options.model)
  const profile = readProfile(options.profile, name)
  const gatewayUrl = await findUrl(options.url, gateway)
  const given = source.from === 'create' ? null : await fetchKey(source, io)
  const scope = {
    project: settings.project ?? (io.environment.SPGW_PROJECT || null),
    environment: settings.environment ?? (io.environment.SPGW_ENVIRONMENT || null),
  }
  const models = await readModels(
    { name, model, url: options.url === undefined ? null : gatewayUrl, place: { ...scope, secret: given } },
    gateway,
    io,
  )
  const note = misspeltNote(model, models)
  if (note !== null) await io.stderr.write(`${note}\n`)
  const filesWith = (key: string) => client.files({ gatewayUrl, key, model, models, profile }, clientPaths(io))
  const makeKey = async () => given ?? (await createKey(name, source, scope, await gateway()))
  if (!write) {
    const key = source.from === 'nowhere' ? placeholder : await makeKey()
    await printFiles(filesWith(key), client, settings.output, io)
    if (client.asksForKey) await io.stderr.write(`The key: ${key}\n`)
    return 0
  }
  return changeFiles({ filesWith, given, makeKey, client, yes: settings.yes }, io)
}

interface ModelQuestion {
  name: ClientName
  model: string | null
  /** Of a gateway that was named, whose operations this command may not reach; null: it is the one that it asks. */
  url: string | null
  place: KeyPlace
}

async function readModels(
  { name, model, url, place }: ModelQuestion,
  gateway: () => Promise<GatewayClient>,
  io: Io,
): Promise<readonly UsableModel[]> {
  const client = clients[name]
  const listed =
    url === null || place.secret === null
      ? null
      : await readList({ url, lane: client.lane, key: place.secret, model }, io)
  if (listed !== null) {
    chooseModels(name, client, model, listed)
    return listed
  }
  if (model === null && !client.listsModels && !client.needsModel) return []
  try {
    const usable = await listUsableModels(await gateway(), client.lane, place, model)
    chooseModels(name, client, model, usable)
    return usable
  } catch (error) {
    if (url === null || reportFault(error).status !== exitStatus.notRunning) throw error
    if (model === null) throw usageFault(`No gateway was found to ask for its models.`, 'Name one with --model.')
    await io.stderr.write('Note: no gateway was found to ask, so the model was not checked.\n')
    return [{ model, context_tokens: null, output_tokens: null }]
  }
}

interface ListQuestion {
  url: string
  lane: LaneName
  key: string
  model: string | null
}

/** With the model that is wanted, where a route takes it without a list. null: the gateway cannot be reached from here. */
async function readList({ url, lane, key, model }: ListQuestion, io: Io): Promise<UsableModel[] | null> {
  const { protocol, host, hostname } = new URL(url)
  if (protocol === 'http:' && !isLoopback(hostname))
    await io.stderr.write(`Warning: the key is sent unencrypted to ${host}.\n`)
  const listed = await readListedModels(url, lane, key)
  if (listed === null) {
    await io.stderr.write(`Note: ${url} could not be reached from here, so the key was not checked.\n`)
    return null
  }
  const names = listed.map((one) => one.model)
  if (model === null || names.includes(model) || !(await takesModel(url, lane, key, model))) return listed
  return [...listed, unlistedModel(model)]
}

type KeySource = { from: 'nowhere' | 'stdin' } | { from: 'variable' | 'create'; name: string }

function readSource(options: Record<string, unknown>, write: boolean): KeySource {
  const { keyEnv, keyStdin, createKey: fresh } = options
  const ways: KeySource[] = [
    ...(typeof keyEnv === 'string' ? [{ from: 'variable', name: keyEnv } as const] : []),
    ...(keyStdin === true ? [{ from: 'stdin' } as const] : []),
    ...(typeof fresh === 'string' ? [{ from: 'create', name: fresh } as const] : []),
  ]
  const [way] = ways
  if (ways.length > 1) {
    throw usageFault('--key-env, --key-stdin and --create-key cannot be used together.', 'Use only one of them.')
  }
  if (way === undefined && write) {
    throw usageFault('--write needs a gateway key.', 'Use --create-key NAME, --key-env VARIABLE or --key-stdin.')
  }
  return way ?? { from: 'nowhere' }
}

/** null: no key was named. */
async function fetchKey(source: KeySource, io: Io): Promise<string | null> {
  if (source.from === 'nowhere' || source.from === 'create') return null
  const text = source.from === 'variable' ? (io.environment[source.name] ?? '') : await readStdin(io)
  const key = text.trim()
  const place = source.from === 'variable' ? `The variable ${source.name}` : 'Standard input'
  if (key === '') throw usageFault(`${place} contains no gateway key.`, 'Create one with --create-key NAME.')
  if (keyForm(key) === 'valid') return key
  throw usageFault(`${place} contains no valid gateway key.`, 'Gateway keys begin with sp_live_.')
}

function readStdin(io: Io): Promise<string> {
  return io.stdin.isTerminal && canAsk(io) ? io.prompter.askHidden('Gateway key') : io.stdin.readAll()
}

async function createKey(
  client: ClientName,
  source: KeySource,
  scope: { project: string | null; environment: string | null },
  gateway: GatewayClient,
): Promise<string> {
  const name = 'name' in source ? source.name : ''
  const { project, environment } = scope
  const given = { ...(project === null ? {} : { project }), ...(environment === null ? {} : { environment }) }
  const made = await gateway.call(['keys', 'create'], { name, ...given }).catch((error: unknown) => {
    throw valueAt(error, 'code') === 'conflict' ? keyIsThere(client, name, given, error) : error
  })
  return String(valueAt(made, 'key'))
}

/** Mostly of the call before this one, which only showed the settings. */
function keyIsThere(client: ClientName, name: string, scope: Record<string, string>, error: unknown): CommandFault {
  const flags = Object.entries(scope).map(([flag, value]) => ` --${flag} ${value}`)
  const rotated = `KEY=$(spgw keys rotate ${name}${flags.join('')})`
  return new CommandFault(
    reportFault(error).cause,
    `Choose another name, or use it with a new secret: ${rotated} spgw connect ${client} --key-env KEY --write`,
    exitStatus.refused,
  )
}

async function findUrl(named: unknown, gateway: () => Promise<GatewayClient>): Promise<string> {
  const url = typeof named === 'string' ? named : await askUrl(gateway)
  if (!URL.canParse(url) || !/^https?:\/\/[^\s"'\\]+$/.test(url)) {
    throw usageFault(`${url} is not the URL of a gateway.`, 'Write it like http://127.0.0.1:8787.')
  }
  // Many have the base URL of an SDK at hand.
  return url.replace(/\/+$/, '').replace(/\/v1(\/anthropic|\/gemini)?$/, '')
}

async function askUrl(gateway: () => Promise<GatewayClient>): Promise<string> {
  try {
    return String(valueAt(await (await gateway()).call(['status'], {}), 'gateway_url'))
  } catch (error) {
    const { cause, hint, status } = reportFault(error)
    if (status !== exitStatus.notRunning && status !== exitStatus.refused) throw error
    // Whoever has only a key needs no more than the address.
    throw new CommandFault(
      cause,
      `${hint.replace(/\.$/, '')}; or name the gateway: --url https://gateway.example.com`,
      status,
    )
  }
}

/** It goes into files of four kinds: what would have to be quoted in one of them is no name of a model. */
function readModel(named: unknown): string | null {
  if (typeof named !== 'string') return null
  if (/^[\w./:@+-]+$/.test(named)) return named
  throw usageFault(`${named} is not a valid model name.`, 'Use the model name of a route.')
}

/** It becomes a file's name. */
function readProfile(named: unknown, client: ClientName): string | null {
  if (typeof named !== 'string') return null
  if (clients[client].hasProfiles !== true) throw usageFault(`${client} has no profiles.`, 'Leave --profile out.')
  if (/^[\w-]+$/.test(named)) return named
  throw usageFault(`${named} is not a valid name of a profile.`, 'Use letters, digits, - and _.')
}

function clientPaths({ environment, here }: Io) {
  const home = environment.HOME || environment.USERPROFILE
  if (!home) throw usageFault('This user has no home directory, where clients keep their settings.', 'Set HOME.')
  return { home, here: here(), environment }
}
