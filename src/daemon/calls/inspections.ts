import type { Runtime } from '../../admin/handlers/context.ts'

/** The lanes are the data plane's: here they are loaded when somebody asks. */
export const inspections: Pick<Runtime, 'inspect' | 'describeCall' | 'inspectContent'> = {
  inspect: async (...asked) => (await import('./inspect-request.ts')).inspectRequest(...asked),
  describeCall: async (...asked) => (await import('./inspect-request.ts')).describeCall(...asked),
  inspectContent: async (...asked) => (await import('./inspect-content.ts')).inspectContent(...asked),
}
