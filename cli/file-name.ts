/** What a file is called of which nobody said it. */
export interface FileName {
  name: string
  ending: string
}

/** The form that is asked for is the ending: `requests export --format csv`. */
export function nameFile({ name, ending }: FileName, { format = ending }: { format?: unknown }): FileName {
  return { name, ending: String(format) }
}
