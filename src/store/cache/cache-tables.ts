/** Answers that routes give again; the data plane asks for them by another way (`answer-cache.ts`). */
export interface CacheTables {
  cache: {
    /** Of one route, or null for all. Returns how many there were. */
    clear(routeId: string | null): number
  }
}
