import { type ParseArgsConfig, parseArgs } from 'node:util'

/**
 * What the command line asks of a script. The process ends here, before any work, where help is asked for, or something
 * that the script does not have.
 */
export function readFlags<const T extends ParseArgsConfig>(help: string, config: T): ReturnType<typeof parseArgs<T>> {
  if (process.argv.slice(2).some((word) => word === '--help' || word === '-h')) {
    process.stdout.write(help)
    process.exit()
  }
  try {
    return parseArgs(config)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    process.stderr.write(`${error.message}\n\n${help}`)
    process.exit(2)
  }
}
