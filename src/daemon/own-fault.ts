/**
 * Resolves at the first fault of the main thread that nobody caught; what follows from it is not heard. Until somebody
 * waits for it, such a fault ends the process on the spot, as Node does by itself.
 */
export function hearOwnFault(): Promise<string> {
  return new Promise((resolve) => {
    process.on('uncaughtException', (error: unknown) =>
      resolve(error instanceof Error ? (error.stack ?? error.message) : String(error)),
    )
  })
}
