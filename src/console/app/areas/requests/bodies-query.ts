import { orpc } from '../../client/admin.ts'

/** What was asked and answered; each reading is audited, so that it is read when somebody asks for it, once. */
export const bodiesQuery = (id: string) => ({
  ...orpc.requests.show.queryOptions({ input: { id, bodies: true } }),
  enabled: false,
  staleTime: Number.POSITIVE_INFINITY,
})
