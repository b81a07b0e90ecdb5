import { labelOf } from '../parts/labels.ts'

/** Where the console does what a command of this noun does. Commands of the machine itself stay commands. */
const pages: Readonly<Record<string, string>> = {
  providers: 'Providers',
  routes: 'Routing',
  keys: 'Keys',
  requests: 'Requests',
  projects: 'Settings, Projects',
  environments: 'Settings, Projects',
  policies: 'Settings, Policies',
  prices: 'Settings, Prices',
  operators: 'Settings, Operators',
  tokens: 'Settings, API tokens',
  alerts: 'Settings, Alerts',
  sessions: 'Settings, Sessions',
  audit: 'Settings, Audit',
  diff: 'Settings, Configuration',
  apply: 'Settings, Configuration',
  export: 'Settings, Configuration',
  objects: 'Settings, All operations',
}

/** Fields that forms do not call by the word of their flag. */
const fieldNames: Readonly<Record<string, string>> = {
  'credential-stdin': 'Credential',
  header: 'Headers',
  tag: 'Tags',
  target: 'Targets',
  'content-rule': 'Content rules',
  cache: 'Cache answers for',
  'keep-responses': 'Keep translated Responses for',
  unpriced: 'Models without a price',
  bodies: 'Show bodies',
}

/** A command up to the end of its sentence or clause, with what leads to it. */
const command = /(: )?\bspgw ([a-z]+)\b[^;)\n]*?(?=\.?$|\. |, or |[;)\n])/g
const flag = /(?<![\w-])--([a-z][a-z-]*)(?: [A-Z][A-Z_]+\b(?![=:]))?/g

/** What the gateway says in the words of its command line, said for whoever has the console before them. */
export function consoleWords(text: string): string {
  return text
    .replace(command, (whole, colon: string | undefined, noun: string, at: number) => {
      const page = pages[noun]
      return page === undefined ? whole : leadTo(page, text.slice(0, at), colon !== undefined, whole)
    })
    .replace(/(elsewhere: )add (?=-p )/, '$1choose ')
    .replace(/(?<=\s)-p ([^\s,]+)(?: -e ([^\s,.]+))?/g, (_, project: string, environment: string | undefined) =>
      environment === undefined ? `project ${project}` : `project ${project}, environment ${environment}`,
    )
    .replaceAll('--credential-stdin or --credential-env VAR', '--credential-stdin')
    .replace(flag, (_, name: string) => `“${fieldNames[name] ?? labelOf(name.replaceAll('-', '_'))}”`)
}

function leadTo(page: string, before: string, hasColon: boolean, whole: string): string {
  if (!hasColon) return `the page ${page}`
  const lead = /[^.;:]*$/.exec(before)?.[0].trim() ?? ''
  if (/(^|\s)or$/.test(lead)) return ` ${whole.split(' ')[3] ?? 'see'} it under ${page}`
  if (/^(See|Compare it with)$/.test(lead)) return ` the page ${page}`
  return /^(To|For) /.test(lead) ? `, open the page ${page}` : ` under ${page}`
}
