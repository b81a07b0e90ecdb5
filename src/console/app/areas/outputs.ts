import type { AdminClient } from '../../../admin/client-link.ts'

/** What the operations answer, by the names that pages use. */
export type Provider = Awaited<ReturnType<AdminClient['providers']['show']>>
export type ProviderKind = Awaited<ReturnType<AdminClient['providers']['kinds']>>[number]
export type Revision = Awaited<ReturnType<AdminClient['providers']['revisions']>>[number]
export type Check = Awaited<ReturnType<AdminClient['providers']['check']>>
export type Route = Awaited<ReturnType<AdminClient['routes']['show']>>
export type RouteTarget = Route['targets'][number]
export type Trial = Awaited<ReturnType<AdminClient['routes']['test']>>
export type Explanation = Awaited<ReturnType<AdminClient['routes']['explain']>>
export type Key = Awaited<ReturnType<AdminClient['keys']['show']>>
export type CreatedKey = Awaited<ReturnType<AdminClient['keys']['create']>>
export type Project = Awaited<ReturnType<AdminClient['projects']['show']>>
export type Environment = Awaited<ReturnType<AdminClient['environments']['show']>>
export type ShownRequest = Awaited<ReturnType<AdminClient['requests']['show']>>
export type RequestBodies = NonNullable<ShownRequest['bodies']>
export type Policy = Awaited<ReturnType<AdminClient['policies']['show']>>
export type TriedRules = Awaited<ReturnType<AdminClient['policies']['try']>>
export type AuditEvent = Awaited<ReturnType<AdminClient['audit']['list']>>[number]
export type StatsRow = Awaited<ReturnType<AdminClient['requests']['stats']>>[number]
export type Operator = Awaited<ReturnType<AdminClient['operators']['show']>>
export type OperatorLink = Awaited<ReturnType<AdminClient['operators']['link']>>
export type DiffPlan = Awaited<ReturnType<AdminClient['diff']>>
export type Applied = Awaited<ReturnType<AdminClient['apply']>>
export type Exported = Awaited<ReturnType<AdminClient['export']>>
export type RouteTraffic = Awaited<ReturnType<AdminClient['routes']['traffic']>>[number]
export type FormatLoss = Awaited<ReturnType<AdminClient['routes']['losses']>>[number]
