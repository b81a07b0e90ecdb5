import type { SocketReading } from './contract.ts'

/** Of a frame that tells nothing. */
export const plainReading: SocketReading = { told: [], named: [], error: null }
