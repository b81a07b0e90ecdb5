/**
 * Room in the data directory that is kept for what must not fail on a full disk: a revocation and a start take a part of it, and what
 * waits for the journal when the gateway ends takes the rest.
 */
export const reserveFile = 'reserve'
