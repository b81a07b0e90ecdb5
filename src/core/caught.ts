/** What a caught value says: the message of an error, or the value itself as text. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** The same for a log: with the stack, which shows where it was thrown. */
export function errorStack(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

/** The code of an error of Node's or SQLite's, such as `ENOENT`; null: it has none. */
export function errorCode(error: unknown): string | null {
  return error instanceof Error && 'code' in error ? String(error.code) : null
}
