import { z } from 'zod'

/** One body as it was kept. */
export const bodyShape = z.object({
  /** Content type as it was sent. */
  type: z.string().nullable(),
  /** Of the whole body. */
  bytes: z.number(),
  /** `content` is only its beginning. */
  truncated: z.boolean(),
  /** Something in it was replaced by a note in brackets. */
  masked: z.boolean(),
  /** null: no text, of which only type and size are kept. */
  content: z.string().nullable(),
})

/** How to ask the same again; of the headers only those that change what is asked. */
export const askedShape = bodyShape.extend({
  method: z.string(),
  path: z.string(),
  headers: z.record(z.string(), z.string()),
})

export const bodiesShape = z.object({
  capture: z.enum(['redacted', 'full']),
  /** null: the gateway was ended before it could keep it. */
  request: askedShape.nullable(),
  /** null: there was none. */
  answer: bodyShape.nullable(),
})
export type Bodies = z.infer<typeof bodiesShape>
