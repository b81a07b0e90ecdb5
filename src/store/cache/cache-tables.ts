/** Answers that routes give again; the data plane asks for them by another way (`answer-cache.ts`). */
export interface CacheTables {
  cache: {
    /** Removes the answers of one route, or of all (null). Returns how many there were. */
    clear(routeId: string | null): number
  }
}
