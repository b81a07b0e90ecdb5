/** What a file is called of which nobody said it. */
export interface FileName {
  name: string
  ending: string
}

/** What help says of the argument. */
export function describeFile({ name, ending }: FileName): string {
  return `File to write (default: ${name}-TIME.${ending} in the current directory)`
}

/** The form that is asked for is the ending: `requests export --format csv`. */
export function nameFile({ name, ending }: FileName, { format = ending }: { format?: unknown }): FileName {
  return { name, ending: String(format) }
}
