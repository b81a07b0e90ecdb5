import { stringify } from 'yaml'

/** Something that stands in the other program's file and not in ours. */
export interface LeftOut {
  /** `litellm.yaml:12:7` */
  place: string
  /** What it is there. */
  what: string
  reason: string
  /** What to do about it. */
  advice: string
}

/** One target, as our files write it in full. */
export interface ConvertedTarget {
  provider: string
  upstream_model?: string
  weight?: number
  priority?: number
}

export interface ConvertedRoute {
  model: string
  /** Absent: `default`. */
  project?: string
  /** Absent: `production`. */
  environment?: string
  strategy?: 'priority' | 'weighted' | 'latency' | 'cost'
  targets: ConvertedTarget[]
  retries?: number
  fallback_on?: string[]
  timeouts?: Record<string, string>
  cache?: string
}

export interface ConvertedProvider {
  name: string
  kind: string
  base_url?: string
  credential?: string
  headers?: Record<string, string>
  settings?: Record<string, string>
  /** Of its account. */
  rpm?: number
  tpm?: number
}

export interface ConvertedPolicy {
  name: string
  attach: string[]
  concurrency?: number
  budget_usd_day?: number
  budget_usd_month?: number
  max_body?: string
  addresses?: string[]
}

export interface ConvertedAlert {
  name: string
  url: string
  format: 'webhook' | 'slack'
}

export interface Converted {
  providers: ConvertedProvider[]
  policies: ConvertedPolicy[]
  routes: ConvertedRoute[]
  alerts: ConvertedAlert[]
  left: LeftOut[]
}

/** Routes, and what limits them, of one project or environment. Providers belong to the workspace. */
export function placeIn(converted: Converted, project: string | null, environment: string | null): void {
  if (project === null && environment === null) return
  const scope = environment === null ? `project:${project}` : `environment:${project ?? 'default'}/${environment}`
  converted.routes = converted.routes.map(({ model, ...route }) => ({
    model,
    ...(project === null ? {} : { project }),
    ...(environment === null ? {} : { environment }),
    ...route,
  }))
  for (const policy of converted.policies) {
    const { name } = policy
    // Another file may be placed elsewhere: it must not take this one's policy.
    policy.name = slugOf([name, project, environment].filter((part) => part !== null).join('-'))
    policy.attach = policy.attach.map((where) => (where === 'workspace' ? scope : where))
    for (const left of converted.left)
      left.advice = left.advice.replaceAll(`policies edit ${name}`, `policies edit ${policy.name}`)
  }
}

/** The same as a file that `apply` takes. */
export function writeConverted({ left: _, ...resources }: Converted, source: string): string {
  const heading =
    `# Converted from ${source}. Look at what it would change: spgw diff -f FILE\n` +
    '# A credential is read from the variable that is named in its place.\n'
  const sections = Object.entries(resources).filter(([, entries]) => entries.length > 0)
  return sections.length === 0 ? heading : heading + stringify(Object.fromEntries(sections), { lineWidth: 0 })
}

export const longestSlug = 63

/** `Prod OpenAI!` → `prod-openai`: what a name may be made of here. */
export function slugOf(text: string): string {
  const slug = text
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^[^a-z0-9]+/, '')
    .slice(0, longestSlug)
  return slug.replace(/[^a-z0-9]+$/, '') || 'provider'
}

/** `azure-eu` → `AZURE_EU` */
export function variableOf(text: string): string {
  return text
    .toUpperCase()
    .replace(/[^A-Z0-9]+/g, '_')
    .replace(/^(?=\d)/, '_')
}

const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
] as const

/** Milliseconds in the shortest form that our files take. */
export function durationOf(milliseconds: number): string {
  const [unit, length] = units.find(([, each]) => milliseconds % each === 0) ?? ['ms', 1]
  return `${milliseconds / length}${unit}`
}

export const mostRetries = 10
