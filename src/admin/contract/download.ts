import { z } from 'zod'

/** Before bytes come: `done` and `total` in the same unit, `total` null when nobody knows. */
const progress = z.object({
  kind: z.literal('progress'),
  stage: z.string(),
  done: z.number(),
  total: z.number().nullable(),
})
const bytes = z.object({ kind: z.literal('bytes'), base64: z.string() })
/** `missing`: what it may lack, in a sentence; left out: nothing. */
const end = z.object({ kind: z.literal('end'), sha256: z.string(), missing: z.string().optional() })

/**
 * A file as a stream of events, so that it passes every surface and every check as any other operation does: progress, what
 * it will be and how many bytes (null: that is known only at the end), these, and the end. Only a stream that came to its end was whole; `sha256` (hex) is of all
 * its bytes.
 */
export function downloadOf<Summary extends z.ZodRawShape>(summary: Summary) {
  const begin = z.object({ kind: z.literal('begin'), bytes: z.number().nullable(), summary: z.object(summary) })
  return z.discriminatedUnion('kind', [progress, begin, bytes, end])
}
