import type { LaneObjects } from './contract.ts'

/** For a lane none of whose endpoints makes or names an object. */
export const noObjects: LaneObjects = {
  references: () => [],
  told: () => [],
  page: () => null,
  writePage: (_match, body) => body,
  nextPage: () => null,
  notFound: () => ({ status: 404, headers: [], body: Buffer.alloc(0) }),
  restoreUrls: (_match, body) => body,
  rewriteUrls: (_match, body) => body,
}
