import { valuedFlags } from './global-options.ts'

/**
 * The words of a command line that are no flag and no value of a flag that everything takes: those that name the command
 * come first. Only a guess at what commander will find, so that nothing else need be built.
 */
export function commandWords(argv: readonly string[]): string[] {
  const words: string[] = []
  for (let place = 0; place < argv.length; place++) {
    const word = argv[place] ?? ''
    if (word === '--') break
    if (!word.startsWith('-')) words.push(word)
    else if (valuedFlags.includes(word)) place++
  }
  return words
}
