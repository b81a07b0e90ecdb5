import type { AdminClient } from '../../../admin/client-link.ts'

export type StatusOutput = Awaited<ReturnType<AdminClient['status']>>
export type RequestRow = Awaited<ReturnType<AdminClient['requests']['list']>>[number]
