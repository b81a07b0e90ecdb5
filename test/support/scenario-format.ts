/**
 * A scenario is a text of commands and what is expected of each, read by people first:
 *
 *     # what it is about
 *     needs curl jq                 programs without which it is skipped
 *     mock openai                   a strict mock: $OPENAI_BASE_URL, $OPENAI_CREDENTIAL (and so on for the others)
 *     mock receiver                 $RECEIVER_URL takes what is posted; received.jsonl has {path, headers, body} of each
 *
 *     $ spgw providers add openai --kind openai \
 *     >   --base-url "$OPENAI_BASE_URL" --credential-env OPENAI_CREDENTIAL
 *       exit 5                      status (without this line: 0)
 *       out has TEXT                stdout holds TEXT; `$NAME` stands for a variable of the shell
 *       out lacks TEXT
 *       out is TEXT                 stdout is TEXT, line end aside
 *       out json                    stdout is one JSON document
 *       err …                       the same of stderr
 */
export interface Scenario {
  needs: string[]
  mocks: string[]
  steps: Step[]
}

export interface Step {
  /** Of the scenario's file, for messages. */
  line: number
  command: string
  exit: number
  expectations: Expectation[]
}

export interface Expectation {
  line: number
  stream: 'out' | 'err'
  verb: 'has' | 'lacks' | 'is' | 'json'
  text: string
}

/** Throws with the line's number for a line that is none of the above. */
export function parseScenario(text: string): Scenario {
  const scenario: Scenario = { needs: [], mocks: [], steps: [] }
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue
    if (!takeLine(scenario, line, index + 1)) throw new Error(`line ${index + 1} says nothing known: ${line}`)
  }
  return scenario
}

function takeLine(scenario: Scenario, line: string, number: number): boolean {
  const [, word, rest = ''] = /^(needs|mock|\$|>) (.*)$/.exec(line) ?? []
  const step = scenario.steps.at(-1)
  if (word === 'needs') scenario.needs.push(...rest.split(' '))
  else if (word === 'mock') scenario.mocks.push(...rest.split(' '))
  else if (word === '$') scenario.steps.push({ line: number, command: rest, exit: 0, expectations: [] })
  else if (step === undefined) return false
  else if (word === '>') step.command += `\n${rest}`
  else return takeExpectation(step, line, number)
  return true
}

function takeExpectation(step: Step, line: string, number: number): boolean {
  const status = /^ {2}exit (\d+)$/.exec(line)?.[1]
  if (status !== undefined) {
    step.exit = Number(status)
    return true
  }
  const [, stream, verb, text = ''] = /^ {2}(out|err) (?:(has|lacks|is)(?: (.*))?|json)$/.exec(line) ?? []
  if (stream === undefined) return false
  step.expectations.push({
    line: number,
    stream: stream === 'out' ? 'out' : 'err',
    verb: verb === 'has' || verb === 'lacks' || verb === 'is' ? verb : 'json',
    text,
  })
  return true
}
