import type { Inspection } from './contract.ts'

/** Of a request that says nothing but its model and its query; a lane fills in what it finds. A fresh one each time. */
export function plainInspection(model: string | null, query: string): Inspection {
  return {
    model,
    streamed: false,
    framing: null,
    query,
    modelSpans: [],
    endUser: null,
    outputLimit: null,
    stores: false,
    mayRefer: true,
    usageSplice: null,
  }
}
