import { errorText } from '../src/core/caught.ts'

/** Exit statuses (product.md section 5); 130 is the shell's own word for Ctrl-C. */
export const exitStatus = {
  done: 0,
  failed: 1,
  usage: 2,
  notRunning: 3,
  notFound: 4,
  refused: 5,
  interrupted: 130,
} as const

/** Ends a command: one line with the cause, one with what to do, and the exit status. */
export class CommandFault extends Error {
  readonly hint: string
  readonly exitStatus: number

  constructor(message: string, hint: string, status: number = exitStatus.failed, options?: ErrorOptions) {
    super(message, options)
    this.name = 'CommandFault'
    this.hint = hint
    this.exitStatus = status
  }
}

export function usageFault(message: string, hint: string): CommandFault {
  return new CommandFault(message, hint, exitStatus.usage)
}

/** The person pressed Ctrl-C in a prompt. */
export class Interrupted extends Error {}

/** The reader of our output has gone (`| head`). */
export class OutputClosed extends Error {}

export interface FaultReport {
  status: number
  cause: string
  /** A gateway that rejects a file names each thing that is wrong, one a line: those after the first. */
  otherCauses: readonly string[]
  hint: string
  /** For `--verbose`. */
  details: string
}

/** Everything that can end a command, in the same three parts. A fault of any other room is read by its `hint` and `exitStatus`. */
export function reportFault(error: unknown): FaultReport {
  if (isAnsweredError(error)) return reportAnswer(error)
  const message = errorText(error)
  const name = error instanceof Error ? error.name : ''
  const status =
    numberIn(error, 'exitStatus') ?? (name === 'GatewayNotRunning' ? exitStatus.notRunning : exitStatus.failed)
  const hint =
    textIn(error, 'hint') ??
    systemHints[textIn(error, 'code') ?? ''] ??
    'Run the command again with --verbose for details.'
  // Wrong settings come as a list of places, all of which have to be fixed.
  const cause = Array.isArray(Reflect.get(Object(error), 'problems')) ? message : firstLine(message)
  return { status, cause, otherCauses: [], hint, details: describeChain(error) }
}

/** What the operating system refuses, by its code. */
const systemHints: Record<string, string> = {
  EACCES: 'Run the command as the owner of the file, or as root. spgw doctor says more.',
  EPERM: 'Run the command as the owner of the file, or as root. spgw doctor says more.',
  EROFS: 'The disk is read-only: mount it read-write, or use another path.',
  ENOENT: 'Check the path of the file or directory.',
  ENOSPC: 'The disk is full: free some space.',
  EDQUOT: 'The disk quota is used up: free some space.',
  EMFILE: 'Too many open files: raise the limit (ulimit -n, or LimitNOFILE= of the service).',
}

const answerStatus: Record<string, number> = {
  not_found: exitStatus.notFound,
  conflict: exitStatus.refused,
  refused: exitStatus.refused,
  forbidden: exitStatus.refused,
  unauthorized: exitStatus.refused,
  invalid: exitStatus.usage,
  bad_request: exitStatus.usage,
}

/** For what was refused before it came to an operation: no token, or one that may not. */
const httpStatus: Record<number, number> = { 401: exitStatus.refused, 403: exitStatus.refused }

/** A stream was read too slowly, and ended by the gateway (`StoreBehind`): what came meanwhile was not sent. */
export function isBehind(error: unknown): boolean {
  return isAnsweredError(error) && textIn(error.data, 'reason') === 'behind'
}

/** An error that the gateway answered with, as the admin room codes it, whichever client brought it. */
interface AnsweredError extends Error {
  code: string
  status: number
  data: unknown
}

function isAnsweredError(error: unknown): error is AnsweredError {
  return error instanceof Error && textIn(error, 'code') !== null && numberIn(error, 'status') !== null
}

function reportAnswer(error: AnsweredError): FaultReport {
  const code = error.code.toLowerCase()
  return {
    status: answerStatus[code] ?? httpStatus[error.status] ?? exitStatus.failed,
    cause: firstLine(error.message),
    otherCauses: error.message.split('\n').slice(1),
    hint: textIn(error.data, 'hint') ?? 'Run the command again with --verbose for details.',
    details: `${error.code} (${error.status})\n${JSON.stringify(error.data ?? null, null, 2)}`,
  }
}

function describeChain(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const own = error.stack ?? `${error.name}: ${error.message}`
  return error.cause === undefined ? own : `${own}\ncaused by ${describeChain(error.cause)}`
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] || 'Unknown error.'
}

function textIn(holder: unknown, key: string): string | null {
  const value = typeof holder === 'object' && holder !== null ? Reflect.get(holder, key) : null
  return typeof value === 'string' && value !== '' ? value : null
}

function numberIn(holder: unknown, key: string): number | null {
  const value = typeof holder === 'object' && holder !== null ? Reflect.get(holder, key) : null
  return typeof value === 'number' ? value : null
}
