import { z } from 'zod'
import * as forms from './setting-forms.ts'
import { logFormats, logLevels } from './settings.ts'

/**
 * The settings as they are written (`config.yaml`), strict. The one list of them: environment variables, the closest
 * known name and the check of `config.example.yaml` are derived from it. A setting stands here once something obeys it.
 */
const timeouts = z.strictObject({
  connect: forms.duration.prefault('5s'),
  first_byte: forms.duration.prefault('120s'),
  between_chunks: forms.duration.prefault('120s'),
  total: forms.duration.prefault('30m'),
})

/** PEM files. A section with neither is one that is not there. */
const tls = z
  .strictObject({ cert: forms.path.optional(), key: forms.path.optional() })
  .superRefine(({ cert, key }, context) => {
    const missing = cert === undefined ? 'cert' : 'key'
    if ((cert === undefined) !== (key === undefined))
      context.addIssue({ code: 'custom', path: [missing], message: 'expected a path: certificate and key go together' })
  })

const gateway = z.strictObject({
  listen: forms.address.prefault('127.0.0.1:8787'),
  tls: tls.prefault({}),
  url: forms.url.optional(),
  workers: forms.workers.prefault('auto'),
  body_limit: forms.size.prefault('100MB'),
  timeouts: timeouts.prefault({}),
  drain_timeout: forms.duration.prefault('30s'),
  trusted_proxies: forms.networks.prefault([]),
  cors_origins: forms.origins.prefault([]),
})

const console = z.strictObject({
  listen: forms.address.prefault('127.0.0.1:8788'),
  tls: tls.prefault({}),
  url: forms.url.optional(),
  metrics_token: forms.word.optional(),
})

const admin = z.strictObject({ socket: forms.path.optional(), socket_group: forms.group.optional() })

const log = z.strictObject({
  level: forms.choice(logLevels).prefault('info'),
  format: forms.choice(logFormats).optional(),
})

const records = z.strictObject({ retention: forms.duration.prefault('90d') })

const seal = z.strictObject({ machine_key_file: forms.path.optional() })

const sections = { gateway, console, admin, log, records, seal }

/** Resources that `apply` reads from the same file; `serve` looks at them no further. */
const resources = z.unknown().optional()

export const fileSchema = z.strictObject({
  gateway: gateway.prefault({}),
  console: console.prefault({}),
  admin: admin.prefault({}),
  log: log.prefault({}),
  records: records.prefault({}),
  seal: seal.prefault({}),
  projects: resources,
  providers: resources,
  routes: resources,
  policies: resources,
  keys: resources,
})

export type FileSettings = z.output<typeof fileSchema>
export const resourceSections = ['projects', 'providers', 'routes', 'policies', 'keys'] as const

/** `gateway.timeouts.connect` and so on, every setting that can be written. */
export const settingNames: readonly string[] = Object.entries(sections).flatMap(([name, section]) =>
  leafNames(name, section.shape),
)

function leafNames(prefix: string, shape: Record<string, z.ZodType>): string[] {
  return Object.entries(shape).flatMap(([name, schema]) => {
    const inner = schema instanceof z.ZodPrefault ? schema.unwrap() : schema
    const path = `${prefix}.${name}`
    return inner instanceof z.ZodObject ? leafNames(path, inner.shape) : [path]
  })
}
