import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { z } from 'zod'
import { isObject } from '../core/json/is-object.ts'
import { Secret } from '../core/secrets/secret.ts'
import { closestName } from '../core/text/closest-names.ts'
import { describeUnset, fileOfVariable, variableForm, variablesIn } from '../core/variables.ts'
import { findDataDirectory, type ProcessEnvironment } from './data-directory.ts'
import { findUnknownVariables, readVariables } from './environment.ts'
import { readProxies } from './proxies.ts'
import { type FileSettings, fileSchema, resourceSections, settingNames } from './schema.ts'
import type { ClusterSettings, Settings, TelemetrySettings, ValkeySettings, WrittenOidcSettings } from './settings.ts'
import { readSettingsFile, type SettingsFile, type SettingTree } from './settings-file.ts'
import { type SettingProblem, SettingsRefused } from './settings-refused.ts'
import { fitSocketPath } from './socket-path.ts'

export interface SettingSources {
  /** `--config`; without it `<data dir>/config.yaml` where there is one. */
  file?: string | undefined
  environment: ProcessEnvironment
  flags: { dataDir?: string | undefined; listen?: string | undefined; consoleListen?: string | undefined }
}

/** Flag beats environment beats file beats default. Throws `SettingsRefused` with every problem and its place. */
export function loadSettings(sources: SettingSources): Settings {
  const { environment, flags } = sources
  const dataDirectory = findDataDirectory(flags.dataDir, environment)
  const path = resolve(sources.file ?? join(dataDirectory, 'config.yaml'))
  const file = readSettingsFile(path)
  if (file === null && sources.file !== undefined)
    throw new SettingsRefused([{ place: path, message: 'there is no such file' }])

  const merged = merge(file, overlays(sources))
  const unknown = findUnknownVariables(environment)
  const parsed = fileSchema.safeParse(merged.tree)
  const problems = [...unknown, ...(parsed.error?.issues ?? []).flatMap((issue) => describe(issue, merged.place))]
  if (!parsed.success || problems.length > 0) throw new SettingsRefused(problems)
  const locate = (setting: string, value: string) => resolve(merged.isInFile(setting) ? dirname(path) : '.', value)
  const settings = toSettings(parsed.data, dataDirectory, environment, locate, merged.place)
  return freeze({ ...settings, file: file === null ? null : path })
}

interface Overlay {
  setting: string
  value: string
  place: string
}

function overlays({ environment, flags }: SettingSources): Overlay[] {
  const variables = readVariables(environment).map(({ setting, value, variable }) => ({
    setting,
    value,
    place: variable,
  }))
  const given: Overlay[] = []
  if (flags.listen !== undefined) given.push({ setting: 'gateway.listen', value: flags.listen, place: '--listen' })
  if (flags.consoleListen !== undefined) {
    given.push({ setting: 'console.listen', value: flags.consoleListen, place: '--console-listen' })
  }
  return [...variables, ...given]
}

interface Merged {
  tree: SettingTree
  place(path: readonly string[]): string
  isInFile(setting: string): boolean
}

function merge(file: SettingsFile | null, overlays: Overlay[]): Merged {
  const tree = structuredClone(file?.tree ?? {})
  const places = new Map<string, string>()
  for (const overlay of overlays) {
    // A section that is no mapping stays as it is, to be refused for what it is.
    if (setAt(tree, overlay.setting.split('.'), overlay.value)) places.set(overlay.setting, overlay.place)
  }
  return {
    tree,
    place: (path) => places.get(path.join('.')) ?? file?.place(path) ?? path.join('.'),
    isInFile: (setting) => !places.has(setting),
  }
}

function setAt(tree: SettingTree, [name = '', ...rest]: string[], value: string): boolean {
  if (rest.length === 0) {
    tree[name] = value
    return true
  }
  tree[name] ??= {}
  const inner = tree[name]
  return isObject(inner) && setAt(inner, rest, value)
}

function describe(issue: z.core.$ZodIssue, place: Merged['place']): SettingProblem[] {
  const path = issue.path.map(String)
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ place: place([...path, key]), message: unknownSetting([...path, key]) }))
  }
  const expected = issue.code === 'invalid_type' ? 'expected settings below it, each on its own line' : issue.message
  return [{ place: place(path), message: `${path.join('.')}: ${expected}` }]
}

const sections = [...new Set(settingNames.flatMap((name) => [name, name.split('.').slice(0, -1).join('.')]))]

function unknownSetting(path: string[]): string {
  const name = path.join('.')
  const known = [...sections, ...resourceSections]
  const near = closestName(name, known) ?? settingNames.find((setting) => setting.endsWith(`.${path.at(-1)}`))
  return `unknown setting ${name}${near ? `; did you mean ${near}?` : ''}`
}

function toSettings(
  file: FileSettings,
  dataDirectory: string,
  environment: ProcessEnvironment,
  locate: (setting: string, value: string) => string,
  place: Merged['place'],
): Omit<Settings, 'file'> {
  const { gateway, console, admin, log, records, telemetry, backup, cluster, seal } = file
  const locateTls = (section: 'gateway' | 'console', { cert, key }: TlsSection) =>
    cert === undefined || key === undefined
      ? null
      : { cert: locate(`${section}.tls.cert`, cert), key: locate(`${section}.tls.key`, key) }
  const socket = admin.socket === undefined ? join(dataDirectory, 'admin.sock') : locate('admin.socket', admin.socket)
  return {
    dataDirectory,
    gateway: {
      ...gateway.listen,
      tls: locateTls('gateway', gateway.tls),
      url: gateway.url ?? null,
      workers: gateway.workers,
      bodyLimit: gateway.body_limit,
      uploadLimit: gateway.upload_limit,
      translateLimit: gateway.translate_limit,
      heldLimit: gateway.held_limit,
      timeouts: toTimeLimits(gateway.timeouts),
      drainMs: gateway.drain_timeout,
      drainNoticeMs: gateway.drain_notice,
      trustedProxies: gateway.trusted_proxies,
      corsOrigins: gateway.cors_origins,
      webrtc: gateway.webrtc === 'allow',
    },
    console: {
      ...console.listen,
      tls: locateTls('console', console.tls),
      url: console.url ?? null,
      metricsToken: readSecret(console.metrics_token, environment, place(['console', 'metrics_token'])),
      oidc: toOidc(console.oidc, environment, place),
    },
    admin: {
      socket: fitSocketPath(socket, place(['admin', 'socket']), environment),
      socketGroup: admin.socket_group ?? null,
    },
    proxies: readProxies(environment),
    log: { level: log.level, format: log.format ?? null, requests: log.requests === 'json' },
    records: {
      retentionMs: records.retention,
      bodiesRetentionMs: records.bodies_retention,
      mostBytes: records.max_disk ?? null,
      clientAddress: records.client_address,
    },
    telemetry: toTelemetry(telemetry, environment, place),
    backup:
      backup.schedule === undefined
        ? null
        : {
            schedule: backup.schedule,
            keep: backup.keep ?? null,
            directory:
              backup.directory === undefined
                ? join(dataDirectory, 'backups')
                : locate('backup.directory', backup.directory),
          },
    cluster: toCluster(cluster, environment, locate, place),
    machineKeyFile: seal.machine_key_file === undefined ? null : locate('seal.machine_key_file', seal.machine_key_file),
    digests: Object.fromEntries(settingNames.map((name) => [name, digest(valueAt(file, name))])),
  }
}

function toOidc(
  oidc: FileSettings['console']['oidc'],
  environment: ProcessEnvironment,
  place: Merged['place'],
): WrittenOidcSettings | null {
  const { issuer, client_id: clientId, client_secret: secret } = oidc
  if (issuer === undefined || clientId === undefined) return null
  return {
    issuer,
    clientId,
    clientSecret: readSecret(secret, environment, place(['console', 'oidc', 'client_secret'])),
    name: oidc.name ?? new URL(issuer).hostname,
    scopes: oidc.scopes,
    roleClaim: oidc.role_claim,
    roles: oidc.roles,
  }
}

function toTelemetry(
  { otlp_endpoint: endpoint, headers }: FileSettings['telemetry'],
  environment: ProcessEnvironment,
  place: Merged['place'],
): TelemetrySettings | null {
  if (endpoint === undefined) return null
  const at = place(['telemetry', 'headers'])
  const revealed = Object.entries(headers).map(([name, text]) => [name, fillSecret(text, environment, at)] as const)
  return { endpoint, headers: Object.fromEntries(revealed) }
}

function toTimeLimits({ connect, first_byte, between_chunks, total }: FileSettings['gateway']['timeouts']) {
  return { connect, firstByte: first_byte, betweenChunks: between_chunks, total }
}

function toCluster(
  file: FileSettings['cluster'],
  environment: ProcessEnvironment,
  locate: (setting: string, value: string) => string,
  place: Merged['place'],
): ClusterSettings | null {
  const { postgres, postgres_password: password, postgres_ca: authority, node, budgets, records } = file
  if (postgres === undefined) return null
  return {
    ...postgres,
    password: readSecret(password, environment, place(['cluster', 'postgres_password'])),
    authority: authority === undefined ? null : locate('cluster.postgres_ca', authority),
    node: node ?? null,
    sharesBudgets: budgets === 'shared',
    records: records ?? 'local',
    valkey: toValkey(file, environment, locate, place),
    isolationMs: file.isolation_limit ?? null,
  }
}

/** Null: nothing is shared by it. */
function toValkey(
  {
    valkey,
    valkey_password: password,
    valkey_ca: authority,
    limits,
    limits_without_valkey: without,
  }: FileSettings['cluster'],
  environment: ProcessEnvironment,
  locate: (setting: string, value: string) => string,
  place: Merged['place'],
): ValkeySettings | null {
  if (valkey === undefined || limits !== 'shared') return null
  return {
    ...valkey,
    password: readSecret(password, environment, place(['cluster', 'valkey_password'])),
    authority: authority === undefined ? null : locate('cluster.valkey_ca', authority),
    without: without ?? 'share',
  }
}

/** The same as `readSecret` with text around it: `Bearer ${TOKEN}`. */
function fillSecret(text: string, environment: ProcessEnvironment, place: string): Secret {
  const filled = text.replaceAll(variableForm, (_whole, escaped: string | undefined, name: string = '') => {
    if (escaped !== undefined) return escaped
    return valueOfVariable(name, environment, place)
  })
  if (/[^\x20-\x7e]/.test(filled))
    throw new SettingsRefused([{ place, message: 'a header holds characters that no header can have' }])
  return new Secret(filled)
}

/** `${NAME}` stands for a variable of the environment, `${file:PATH}` for the content of a file, so that the settings hold no secret. */
function readSecret(text: string | undefined, environment: ProcessEnvironment, place: string): Secret | null {
  if (text === undefined) return null
  const [name = ''] = variablesIn(text)
  return new Secret(text === `\${${name}}` ? valueOfVariable(name, environment, place) : text)
}

function valueOfVariable(name: string, environment: ProcessEnvironment, place: string): string {
  const file = fileOfVariable(name)
  const value = file === null ? environment[name] : readSecretFile(file)
  if (value) return value
  throw new SettingsRefused([{ place, message: describeUnset([name]) }])
}

function readSecretFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return undefined
  }
}

type TlsSection = FileSettings['gateway']['tls']

function valueAt(file: FileSettings, setting: string): unknown {
  return setting.split('.').reduce((inner: unknown, name) => (isObject(inner) ? inner[name] : undefined), file)
}

function digest(value: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(value) ?? '')
    .digest('base64')
}

function freeze<Value extends object>(value: Value): Value {
  for (const inner of Object.values(value)) if (typeof inner === 'object' && inner !== null) freeze(inner)
  return Object.freeze(value)
}
