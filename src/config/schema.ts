// The small form of zod: `serve` reads its settings without the schemas of the admin contract, and with 9 MB less.
import * as z from 'zod/mini'
import * as forms from './setting-forms.ts'
import { clientAddressForms, logFormats, logLevels } from './settings.ts'

/**
 * The settings as they are written (`config.yaml`), strict. The one list of them: environment variables, the closest
 * known name and the check of `config.example.yaml` are derived from it. A setting stands here once something obeys it.
 */
const timeouts = z.strictObject({
  connect: z.prefault(forms.duration, '5s'),
  first_byte: z.prefault(forms.duration, '120s'),
  between_chunks: z.prefault(forms.duration, '120s'),
  total: z.prefault(forms.duration, '30m'),
})

/** PEM files. A section with neither is one that is not there. */
const tls = z.strictObject({ cert: z.optional(forms.path), key: z.optional(forms.path) }).check(
  z.superRefine(({ cert, key }, context) => {
    const missing = cert === undefined ? 'cert' : 'key'
    if ((cert === undefined) !== (key === undefined))
      context.addIssue({ code: 'custom', path: [missing], message: 'expected a path: certificate and key go together' })
  }),
)

const gateway = z.strictObject({
  listen: z.prefault(forms.address, '127.0.0.1:8787'),
  tls: z.prefault(tls, {}),
  url: z.optional(forms.url),
  workers: z.prefault(forms.workers, 'auto'),
  body_limit: z.prefault(forms.size, '100MB'),
  upload_limit: z.prefault(forms.size, '2GB'),
  translate_limit: z.prefault(forms.size, '32MB'),
  held_limit: z.prefault(forms.sizeOrAuto, 'auto'),
  timeouts: z.prefault(timeouts, {}),
  drain_timeout: z.prefault(forms.duration, '30s'),
  drain_notice: z.prefault(forms.pause, '0s'),
  trusted_proxies: z.prefault(forms.networks, []),
  cors_origins: z.prefault(forms.origins, []),
  webrtc: z.prefault(forms.choice(['refuse', 'allow']), 'refuse'),
})

/** A section without an issuer is one that is not there. */
const oidc = z
  .strictObject({
    issuer: z.optional(forms.issuer),
    client_id: z.optional(forms.word),
    client_secret: z.optional(forms.word),
    name: z.optional(forms.word),
    scopes: z.prefault(forms.words, ['openid', 'profile', 'email']),
    role_claim: z.prefault(forms.word, 'groups'),
    roles: z.prefault(forms.roles, {}),
  })
  .check(
    z.superRefine(({ issuer, client_id, roles }, context) => {
      const refuse = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message })
      if ((issuer === undefined) !== (client_id === undefined))
        refuse(issuer === undefined ? 'issuer' : 'client_id', 'expected a value: issuer and client_id go together')
      if (issuer !== undefined && Object.keys(roles).length === 0)
        refuse('roles', 'expected at least one: without a role nobody can sign in')
    }),
  )

const console = z.strictObject({
  listen: z.prefault(forms.address, '127.0.0.1:8788'),
  tls: z.prefault(tls, {}),
  url: z.optional(forms.url),
  metrics_token: z.optional(forms.word),
  oidc: z.prefault(oidc, {}),
})

const admin = z.strictObject({ socket: z.optional(forms.path), socket_group: z.optional(forms.group) })

const log = z.strictObject({
  level: z.prefault(forms.choice(logLevels), 'info'),
  format: z.optional(forms.choice(logFormats)),
  requests: z.prefault(forms.choice(['off', 'json']), 'off'),
})

const records = z.strictObject({
  retention: z.prefault(forms.duration, '90d'),
  bodies_retention: z.prefault(forms.duration, '7d'),
  max_disk: z.optional(forms.size),
  client_address: z.prefault(forms.choice(clientAddressForms), 'full'),
})

const backup = z.strictObject({
  schedule: z.optional(forms.schedule),
  keep: z.optional(forms.count),
  directory: z.optional(forms.path),
})

/** A section without an endpoint is one that is not there. */
const telemetry = z.strictObject({
  otlp_endpoint: z.optional(forms.url),
  headers: z.prefault(forms.headers, {}),
})

/** A section without an address is one that is not there. Whatever nodes do not share is to be written, so that nobody is surprised. */
const cluster = z
  .strictObject({
    postgres: z.optional(forms.postgresUrl),
    postgres_password: z.optional(forms.word),
    postgres_ca: z.optional(forms.path),
    node: z.optional(forms.word),
    budgets: z.prefault(forms.choice(['shared', 'local']), 'shared'),
    limits: z.optional(forms.choice(['shared', 'local'])),
    valkey: z.optional(forms.valkeyUrl),
    valkey_password: z.optional(forms.word),
    valkey_ca: z.optional(forms.path),
    limits_without_valkey: z.optional(forms.choice(['share', 'refuse', 'local'])),
    records: z.optional(forms.choice(['shared', 'local'])),
    isolation_limit: z.optional(forms.duration),
  })
  .check(
    z.superRefine(({ postgres, limits, valkey, records }, context) => {
      const refuse = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message })
      const demand = (path: string, what: string) => refuse(path, what)
      if (postgres === undefined) {
        if (valkey !== undefined) refuse('valkey', 'expected cluster.postgres with it: nodes are listed there')
        return
      }
      if (limits === undefined)
        demand(
          'limits',
          'expected local: each node counts limits per minute for itself, so N nodes allow up to N times as much; or shared, with cluster.valkey',
        )
      if (limits === 'shared' && valkey === undefined)
        refuse('valkey', 'expected the address of Valkey or Redis, by which nodes share limits')
      if (records === undefined)
        demand('records', 'expected shared (all records are in PostgreSQL as well) or local (each node keeps its own)')
    }),
  )

const seal = z.strictObject({ machine_key_file: z.optional(forms.path) })

const sections = { gateway, console, admin, log, records, telemetry, backup, cluster, seal }

/** What `apply` reads from the same file: resources, and who owns them. `serve` looks at it no further. */
const resources = z.optional(z.unknown())

export const fileSchema = z.strictObject({
  gateway: z.prefault(gateway, {}),
  console: z.prefault(console, {}),
  admin: z.prefault(admin, {}),
  log: z.prefault(log, {}),
  records: z.prefault(records, {}),
  telemetry: z.prefault(telemetry, {}),
  backup: z.prefault(backup, {}),
  cluster: z.prefault(cluster, {}),
  seal: z.prefault(seal, {}),
  projects: resources,
  providers: resources,
  routes: resources,
  policies: resources,
  keys: resources,
  alerts: resources,
  owner: resources,
})

/** `gateway`, `console` and so on. */
export const sectionNames: readonly string[] = Object.keys(sections)

export type FileSettings = z.output<typeof fileSchema>
export const resourceSections = ['projects', 'providers', 'routes', 'policies', 'keys', 'alerts', 'owner'] as const

/** `gateway.timeouts.connect` and so on, every setting that can be written. */
export const settingNames: readonly string[] = Object.entries(sections).flatMap(([name, section]) =>
  leafNames(name, section.shape),
)

function leafNames(prefix: string, shape: Record<string, z.core.$ZodType>): string[] {
  return Object.entries(shape).flatMap(([name, schema]) => {
    const inner = schema instanceof z.ZodMiniPrefault ? schema.def.innerType : schema
    const path = `${prefix}.${name}`
    return inner instanceof z.ZodMiniObject ? leafNames(path, inner.shape) : [path]
  })
}
