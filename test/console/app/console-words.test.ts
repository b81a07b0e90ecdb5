import { describe, expect, it } from 'vitest'
import { consoleWords } from '../../../src/console/app/client/console-words.ts'

describe('what the gateway says in the words of its command line', () => {
  it.each([
    ['List them: spgw providers list', 'List them under Providers'],
    ['Enable it first: spgw operators enable anna.smith', 'Enable it first under Settings, Operators'],
    ['Choose another name, or: spgw policies edit cheap', 'Choose another name, or edit it under Settings, Policies'],
    ['To change it: spgw providers edit openai', 'To change it, open the page Providers'],
    ['See: spgw routes add --help', 'See the page Routing'],
    [
      'List them: spgw environments list --project search. To add it: spgw environments add eu -p search',
      'List them under Settings, Projects. To add it, open the page Settings, Projects',
    ],
    [
      'Choose another name, or give it a new secret: spgw keys rotate ci -p default -e production',
      'Choose another name, or give it a new secret under Keys',
    ],
    ['Give it with --credential-stdin or --credential-env VAR.', 'Give it with “Credential”.'],
    ['Remove it and give it with --credential-stdin.', 'Remove it and give it with “Credential”.'],
    [
      'Name a provider with --provider NAME. List them: spgw providers list',
      'Name a provider with “Provider”. List them under Providers',
    ],
    ['Write --header NAME=VALUE.', 'Write “Headers” NAME=VALUE.'],
    ['Fix it, or store it without a check: --skip-check.', 'Fix it, or store it without a check: “Skip check”.'],
    ['--project and --all-projects exclude each other.', '“Project” and “All projects” exclude each other.'],
    [
      'There is one elsewhere: add -p search -e staging',
      'There is one elsewhere: choose project search, environment staging',
    ],
    ['There is one elsewhere: add -p a, or -p b', 'There is one elsewhere: choose project a, or project b'],
  ])('is said in those of the console: %s', (text, said) => {
    expect(consoleWords(text)).toBe(said)
  })

  it.each([
    'Start it again on the machine: spgw cluster leave',
    'Create a new one on the machine: spgw console link',
    'The model gpt-4o--mini has no price -- set one.',
    'Choose another name.',
  ])('stays where only the machine can do it, or where nothing is said of it: %s', (text) => {
    expect(consoleWords(text)).toBe(text)
  })
})
