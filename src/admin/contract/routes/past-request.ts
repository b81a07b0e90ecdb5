import { z } from 'zod'

/** A request that was recorded, and where it was sent then. */
export const pastShape = z.object({
  id: z.string(),
  provider: z.string().nullable(),
  upstream_model: z.string().nullable(),
  /** Of its body, from which costs are estimated. */
  bytes: z.number(),
})
